import { emitMetric } from './emit-metric.ts'

/** Counts what this version of this function failed at by its own fault; a deployment is taken back by it. */
export const emitFault = (): void =>
  emitMetric('Faults', 1, {
    dimensions: {
      function: process.env['AWS_LAMBDA_FUNCTION_NAME'] ?? 'none',
      version: process.env['AWS_LAMBDA_FUNCTION_VERSION'] ?? 'none',
    },
  })
