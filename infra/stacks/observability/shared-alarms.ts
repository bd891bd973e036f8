import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { UnnamedAlarm } from './journeys.ts'
import { filled, kmsUsage, minute, type Observed, period } from './metrics.ts'

/** Quota of KMS for operations with symmetric keys, per second. Some regions allow more (AWS KMS quotas). */
const kmsSymmetricPerSecond = 10_000

/** The alarms on parts that all journeys need (see Journey). Such an alarm silences those of journeys. */
export const sharedAlarms = ({ config }: Observed): UnnamedAlarm[] => {
  const table = (metricName: string) =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      dimensionsMap: { TableName: config.serviceName },
      statistic: 'Sum',
      period: minute,
    })
  return [
    {
      id: 'table-throttles',
      journey: 'shared',
      meaning: 'DynamoDB throttles at least one read or write of the table a second.',
      metric: new MathExpression({
        expression: 'FILL(reads, 0) + FILL(writes, 0)',
        usingMetrics: { reads: table('ReadThrottleEvents'), writes: table('WriteThrottleEvents') },
        period: minute,
      }),
      threshold: 60,
    },
    {
      id: 'table-conflicts',
      journey: 'shared',
      meaning: 'At least ten writes a second meet a transaction on their item.',
      metric: filled(table('TransactionConflict')),
      threshold: 600,
      periods: 5,
    },
    {
      id: 'function-throttles',
      journey: 'shared',
      meaning: 'Lambda did not start a function, because the account is at its concurrency limit.',
      // Counts the throttled calls of all functions of the account and region, which share one limit.
      metric: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', statistic: 'Sum', period }),
      threshold: 1,
      periods: 2,
    },
    {
      id: 'account-concurrency',
      journey: 'shared',
      meaning: 'Functions use 80 % of the concurrent executions that the account is configured to have.',
      runbook: 'function-throttles',
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'ClaimedAccountConcurrency',
        statistic: 'Maximum',
        period: minute,
      }),
      threshold: 0.8 * config.concurrentExecutions,
    },
    {
      id: 'kms-symmetric-quota',
      journey: 'shared',
      meaning: 'Passwords, codes and queues use more than 80 % of the account’s quota of symmetric KMS keys.',
      runbook: 'kms-quota',
      metric: kmsUsage('CryptographicOperationsSymmetric'),
      threshold: 0.8 * 60 * kmsSymmetricPerSecond,
    },
  ]
}
