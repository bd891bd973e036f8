import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { MetricName } from '../../../shared/emit-metric.ts'
import type { FailureName } from '../../../shared/errors.ts'
import type { Config } from '../../config.ts'
import type { ApiStack } from '../api-stack.ts'
import type { IntakeStack } from '../intake-stack.ts'

/** The stage that the alarms and the dashboard observe: its configuration, API stack and intake stack. */
export interface Observed {
  config: Config
  api: ApiStack
  intake: IntakeStack
}

/** Period of metrics, unless an alarm says otherwise. */
export const period = Duration.minutes(5)

/** Period of alarms that silence others. It is short, so that they come first. */
export const minute = Duration.minutes(1)

/** Names of all functions of the stage, without the stage's prefix. */
export const functionNames = ({ api, intake }: Observed): string[] => [
  ...api.functionNames,
  ...intake.functionNames,
]

/**
 * One of Lambda's metrics of a function. The function's name is plain text, because CloudFormation refuses to
 * remove a function while another stack has a reference to its name.
 */
export const functionMetric = (config: Config, name: string, metricName: string): Metric =>
  new Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: config.namePrefix + name },
    statistic: 'Sum',
    period,
  })

/** One of SQS's metrics of a queue. */
export const queueMetric = ({ namePrefix }: Config, name: string, metricName: string): Metric =>
  new Metric({
    namespace: 'AWS/SQS',
    metricName,
    dimensionsMap: { QueueName: namePrefix + name },
    statistic: 'Maximum',
    period,
  })

/** How many messages are in a dead-letter queue. */
export const deadLetterMetric = (config: Config, name: string): Metric =>
  queueMetric(config, name, 'ApproximateNumberOfMessagesVisible')

/** One of the custom metrics that the functions emit: see shared/emit-metric.ts. */
export const serviceMetric = (
  { serviceName }: Config,
  metricName: MetricName,
  statistic: string,
  dimensionsMap: Record<string, string> = {},
): Metric => new Metric({ namespace: serviceName, metricName, dimensionsMap, statistic, period })

/** Number of requests that failed with the given failure (see shared/errors.ts). */
export const failureMetric = (config: Config, failure: FailureName): Metric =>
  serviceMetric(config, 'Failures', 'Sum', { failure })

/** Percentage of a function's calls with the given failure; 0 if there are fewer than `atLeast` failures. */
export const failureShare = (
  config: Config,
  failure: FailureName,
  name: string,
  atLeast: number,
): MathExpression =>
  new MathExpression({
    expression: `IF(failures >= ${atLeast}, 100 * failures / calls, 0)`,
    usingMetrics: {
      failures: failureMetric(config, failure),
      calls: functionMetric(config, name, 'Invocations'),
    },
    period,
  })

/** Number of KMS calls a minute that count against one of the account's quotas. */
export const kmsUsage = (resource: string): Metric =>
  new Metric({
    namespace: 'AWS/Usage',
    metricName: 'CallCount',
    dimensionsMap: { Service: 'KMS', Type: 'API', Resource: resource, Class: 'None' },
    statistic: 'Sum',
    period: minute,
  })

/**
 * A DynamoDB metric with 0 in place of missing data. Otherwise, an alarm that is raised would stay raised
 * while DynamoDB sends no data (API reference: PutMetricAlarm).
 */
export const filled = (metric: Metric): MathExpression =>
  new MathExpression({
    expression: 'FILL(metric, 0)',
    usingMetrics: { metric },
    period: metric.period,
  })
