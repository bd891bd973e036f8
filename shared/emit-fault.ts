import { emitMetric } from './emit-metric.ts'

/**
 * Emits a metric for a fault: an unexpected failure of the service itself. Faults of a new version roll its
 * deployment back.
 */
export const emitFault = (): void =>
  emitMetric('Faults', 1, {
    dimensions: {
      function: process.env['AWS_LAMBDA_FUNCTION_NAME'] ?? 'none',
      version: process.env['AWS_LAMBDA_FUNCTION_VERSION'] ?? 'none',
    },
  })
