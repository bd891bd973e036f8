import { emitMetric } from './emit-metric.ts'

/** Emits a metric for an unexpected failure of the service. It rolls back a new version's deployment. */
export const emitFault = (): void =>
  emitMetric('Faults', 1, {
    dimensions: {
      function: process.env['AWS_LAMBDA_FUNCTION_NAME'] ?? 'none',
      version: process.env['AWS_LAMBDA_FUNCTION_VERSION'] ?? 'none',
    },
  })
