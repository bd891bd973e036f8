import { requireEnv } from './env.ts'

/** The service's own metrics; infra/stacks/observability-stack.ts and infra/constructs/gradual-deployment.ts say which alarm or graph
 * watches which. */
export type MetricName =
  | 'AddressPoolEmpty'
  | 'AddressPoolLow'
  | 'Events'
  | 'Failures'
  | 'Faults'
  | 'LedgerDifferences'
  | 'RotationOverdueSeconds'
  | 'Rotations'
  | 'SignIns'

/**
 * Tells CloudWatch a number through the function's log (CloudWatch embedded metric format), at no cost of time. With no
 * dimension but those that are given, so that one alarm sees what all functions say; libraries for this always add the
 * function's name. Written to the stream itself, since Lambda wraps what goes through the console.
 */
export function emitMetric(
  name: MetricName,
  value: number,
  {
    unit = 'Count',
    dimensions = {},
  }: { unit?: 'Count' | 'Seconds'; dimensions?: Record<string, string> } = {},
): void {
  const line = {
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        {
          Namespace: requireEnv('METRICS_NAMESPACE'),
          Dimensions: [Object.keys(dimensions)],
          Metrics: [{ Name: name, Unit: unit }],
        },
      ],
    },
    ...dimensions,
    [name]: value,
  }
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
