import { requireEnv } from './env.ts'

/** Names of the service's own metrics, which the alarms and graphs of infra/stacks/observability read. */
export type MetricName =
  | 'AddressPoolLow'
  | 'Events'
  | 'Failures'
  | 'Faults'
  | 'GuessedAccounts'
  | 'LedgerDifferences'
  | 'LedgerVerificationAge'
  | 'RotationOverdueSeconds'
  | 'SignIns'
  | 'Unavailable'

/**
 * Writes a metric to the function's log in CloudWatch embedded metric format, which needs no AWS call. The
 * metric has only the given dimensions. A metric library would add the function's name, and then no alarm
 * could watch the total of all functions. Writes to stdout, because Lambda changes what `console` prints.
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
