import { emitMetric } from './emit-metric.ts'

/** Counts a fault: a failure that is the service's own. Faults of a new version roll its deployment back. */
export const emitFault = (): void =>
  emitMetric('Faults', 1, {
    dimensions: {
      function: process.env['AWS_LAMBDA_FUNCTION_NAME'] ?? 'none',
      version: process.env['AWS_LAMBDA_FUNCTION_VERSION'] ?? 'none',
    },
  })
