import { Duration, Stack, type StackProps } from 'aws-cdk-lib'
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import type { ApiStack } from './api-stack.ts'
import type { IntakeStack } from './intake-stack.ts'

interface ObservabilityStackProps extends StackProps {
  config: Config
  api: ApiStack
  intake: IntakeStack
}

/** An alarm to add. */
interface AlarmSpec {
  id: string
  /** What the alarm reports, in one sentence. */
  meaning: string
  /** Anchor of the heading in infra/RUNBOOK.md that says what to do. */
  runbook: string
  metric: IMetric
  threshold: number
  /** Consecutive periods over the threshold that raise the alarm. Default: 1. */
  periods?: number
  /** Raises the alarm when the metric is missing or not above the threshold. */
  alarmWhenSilent?: true
}

const period = Duration.minutes(5)

/** RSA signatures per second that KMS allows an account in most regions (AWS KMS quotas). */
const kmsSignaturesPerSecond = 1_000

/** All alarms, each with a link to its section of the runbook, and one dashboard. */
export class ObservabilityStack extends Stack {
  constructor(scope: Construct, id: string, props: ObservabilityStackProps) {
    super(scope, id, props)
    const { config } = props
    const topic =
      config.alarmTopicArn && new SnsAction(Topic.fromTopicArn(this, 'AlarmTopic', config.alarmTopicArn))
    for (const spec of alarmSpecs(props)) {
      const alarm = this.addAlarm(config, spec)
      if (topic) alarm.addAlarmAction(topic)
    }
    new Dashboard(this, 'Dashboard', {
      dashboardName: config.serviceName,
      widgets: dashboardRows(props),
    })
  }

  private addAlarm(config: Config, spec: AlarmSpec): Alarm {
    return new Alarm(this, spec.id, {
      alarmName: `${config.namePrefix}${spec.id}`,
      alarmDescription: `${spec.meaning} What to do: infra/RUNBOOK.md#${spec.runbook}`,
      metric: spec.metric,
      threshold: spec.threshold,
      evaluationPeriods: spec.periods ?? 1,
      comparisonOperator: spec.alarmWhenSilent
        ? ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: spec.alarmWhenSilent ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    })
  }
}

const alarmSpecs = (props: ObservabilityStackProps): AlarmSpec[] => [
  ...functionAlarms(props),
  ...queueAlarms(props),
  ...apiAlarms(props),
  ...signingKeyAlarms(props),
  ...serviceAlarms(props),
]

const functionAlarms = ({ api, intake }: ObservabilityStackProps): AlarmSpec[] =>
  [...api.functions, ...intake.functions].flatMap((fn) => [
    {
      id: `${fn.node.scope?.node.id ?? fn.node.id}-errors`,
      meaning: 'A function crashed, timed out or lacked a permission.',
      runbook: 'function-errors',
      metric: fn.metricErrors({ period }),
      threshold: 1,
    },
    {
      id: `${fn.node.scope?.node.id ?? fn.node.id}-throttles`,
      meaning: 'Lambda did not start a function, because the account is at its concurrency limit.',
      runbook: 'function-throttles',
      metric: fn.metricThrottles({ period }),
      threshold: 1,
      periods: 2,
    },
  ])

const queueAlarms = ({ intake }: ObservabilityStackProps): AlarmSpec[] =>
  intake.deadLetterQueues.map((queue) => ({
    id: queue.node.id,
    meaning: 'An event was rejected or could not be applied.',
    runbook: 'dead-letters',
    metric: queue.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
    threshold: 1,
  }))

const apiAlarms = ({ api: { api } }: ObservabilityStackProps): AlarmSpec[] => [
  {
    id: 'api-server-errors',
    meaning: 'More than 1 % of the requests are answered with a 5xx status.',
    runbook: 'server-errors',
    metric: new MathExpression({
      expression: '100 * errors / MAX([requests, 1])',
      usingMetrics: { errors: api.metricServerError(), requests: api.metricCount() },
      period,
    }),
    threshold: 1,
    periods: 2,
  },
  {
    id: 'api-latency',
    meaning: 'More than 1 % of the requests take longer than two seconds.',
    runbook: 'latency',
    metric: api.metricLatency({ period, statistic: 'p99' }),
    threshold: 2_000,
    periods: 3,
  },
]

function signingKeyAlarms({ config, intake }: ObservabilityStackProps): AlarmSpec[] {
  const rotation = intake.functions.find((fn) => fn.node.scope?.node.id === 'rotate-signing-keys')
  if (rotation === undefined) throw new Error('the intake stack has no function rotate-signing-keys')
  return [
    {
      id: 'kms-quota',
      meaning: 'Signatures use more than 80 % of the account’s KMS quota.',
      runbook: 'kms-quota',
      metric: new Metric({
        namespace: 'AWS/Usage',
        metricName: 'CallCount',
        dimensionsMap: {
          Service: 'KMS',
          Type: 'API',
          Resource: 'CryptographicOperationsRsa',
          Class: 'None',
        },
        statistic: 'Sum',
        period: Duration.minutes(1),
      }),
      threshold: 0.8 * 60 * kmsSignaturesPerSecond,
    },
    {
      id: 'rotation-silent',
      meaning: 'The rotation of the signing keys has not run for an hour.',
      runbook: 'rotation-overdue',
      metric: rotation.metricInvocations({ period: Duration.hours(1) }),
      threshold: 0,
      alarmWhenSilent: true,
    },
    {
      id: 'rotation-overdue',
      meaning: 'A step of the rotation of the signing keys is overdue by more than an hour.',
      runbook: 'rotation-overdue',
      metric: serviceMetric(config, 'RotationOverdueSeconds', 'Maximum'),
      threshold: 3_600,
    },
  ]
}

const serviceAlarms = ({ config }: ObservabilityStackProps): AlarmSpec[] => [
  {
    id: 'address-pool',
    meaning: 'A user asked for a deposit address, and the pool was empty.',
    runbook: 'address-pool',
    metric: serviceMetric(config, 'AddressPoolEmpty', 'Sum'),
    threshold: 1,
  },
  {
    id: 'address-pool-low',
    meaning: 'A pool of deposit addresses is almost empty.',
    runbook: 'address-pool',
    metric: serviceMetric(config, 'AddressPoolLow', 'Sum'),
    threshold: 1,
  },
  {
    id: 'ledger-difference',
    meaning: 'A balance differs from the sum of its bills.',
    runbook: 'ledger-difference',
    metric: serviceMetric(config, 'LedgerDifferences', 'Maximum'),
    threshold: 1,
  },
]

/** One of the metrics that the functions emit: see shared/emit-metric.ts. */
const serviceMetric = ({ serviceName }: Config, metricName: string, statistic: string): Metric =>
  new Metric({ namespace: serviceName, metricName, statistic, period })

function dashboardRows({
  config,
  api: { api, functions },
  intake,
}: ObservabilityStackProps): GraphWidget[][] {
  const sumBy = (dimension: string, metricName: string) =>
    new MathExpression({
      expression: `SEARCH('{${config.serviceName},${dimension}} MetricName="${metricName}"', 'Sum', 300)`,
      label: '',
      usingMetrics: {},
    })
  const graph = (title: string, left: IMetric[]) => new GraphWidget({ title, left })
  return [
    [
      graph('Requests and errors', [api.metricCount(), api.metricClientError(), api.metricServerError()]),
      graph(
        'Latency',
        ['p50', 'p90', 'p99'].map((statistic) => api.metricLatency({ statistic })),
      ),
    ],
    [
      graph('Sign-ins', [sumBy('method', 'SignIns')]),
      graph('Failures by name', [sumBy('failure', 'Failures')]),
      graph('Events by outcome', [sumBy('detail_type,outcome', 'Events')]),
    ],
    [
      graph(
        'Dead letters',
        intake.deadLetterQueues.map((queue) => queue.metricApproximateNumberOfMessagesVisible()),
      ),
      graph(
        'Function errors',
        [...functions, ...intake.functions].map((fn) => fn.metricErrors()),
      ),
    ],
  ]
}
