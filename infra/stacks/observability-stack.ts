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
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { serviceNamespace } from '../metrics.ts'
import type { ApiStack } from './api-stack.ts'
import type { IntakeStack } from './intake-stack.ts'

interface ObservabilityStackProps extends StackProps {
  config: Config
  api: ApiStack
  intake: IntakeStack
}

/** What an alarm watches, and the paragraph of the runbook that says what to do. */
interface Watch {
  id: string
  /** What it means, in one sentence. */
  meaning: string
  /** Heading of infra/RUNBOOK.md, as its anchor. */
  runbook: string
  metric: IMetric
  threshold: number
  /** Periods in a row; 1 unless a single bad one is no news. */
  periods?: number
  /** Whether silence itself is the fault. */
  missingIsBad?: true
}

const period = Duration.minutes(5)

/** Asymmetric signatures a second that KMS grants an account for RSA keys in most regions (AWS KMS quotas). */
const kmsRequestsPerSecond = 1_000

/** What tells people that something needs them: alarms, each with its paragraph of the runbook, and one dashboard. */
export class ObservabilityStack extends Stack {
  private readonly topic: ITopic | undefined

  constructor(scope: Construct, id: string, props: ObservabilityStackProps) {
    super(scope, id, props)
    const { config } = props
    this.topic = config.alarmTopicArn
      ? Topic.fromTopicArn(this, 'AlarmTopic', config.alarmTopicArn)
      : undefined
    const watches = [
      ...this.watchFunctions(props),
      ...this.watchQueues(props),
      ...this.watchApi(props),
      ...this.watchKeys(props),
      ...this.watchService(props),
    ]
    for (const watch of watches) this.addAlarm(config, watch)
    this.addDashboard(config, props)
  }

  private watchFunctions({ api, intake }: ObservabilityStackProps): Watch[] {
    return [...api.functions, ...intake.functions].flatMap((fn) => [
      {
        id: `${fn.node.scope?.node.id ?? fn.node.id}-errors`,
        meaning:
          'A function failed outside of what it answers for: a crash, a time-out or a missing permission.',
        runbook: 'function-errors',
        metric: fn.metricErrors({ period }),
        threshold: 1,
      },
      {
        id: `${fn.node.scope?.node.id ?? fn.node.id}-throttles`,
        meaning: 'Lambda refused to start a function: the account is at its concurrency limit.',
        runbook: 'function-throttles',
        metric: fn.metricThrottles({ period }),
        threshold: 1,
        periods: 2,
      },
    ])
  }

  private watchQueues({ intake }: ObservabilityStackProps): Watch[] {
    return intake.deadLetterQueues.map((queue) => ({
      id: queue.node.id,
      meaning: 'An event was refused or could not be applied.',
      runbook: 'dead-letters',
      metric: queue.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
      threshold: 1,
    }))
  }

  private watchApi({ api }: ObservabilityStackProps): Watch[] {
    return [
      {
        id: 'api-server-errors',
        meaning: 'More than one request in a hundred is answered with a 5xx.',
        runbook: 'server-errors',
        metric: new MathExpression({
          expression: '100 * errors / MAX([requests, 1])',
          usingMetrics: { errors: api.api.metricServerError(), requests: api.api.metricCount() },
          period,
        }),
        threshold: 1,
        periods: 2,
      },
      {
        id: 'api-latency',
        meaning: 'One request in a hundred takes longer than two seconds.',
        runbook: 'latency',
        metric: api.api.metricLatency({ period, statistic: 'p99' }),
        threshold: 2_000,
        periods: 3,
      },
    ]
  }

  private watchKeys({ intake }: ObservabilityStackProps): Watch[] {
    const rotation = intake.functions.find((fn) => fn.node.scope?.node.id === 'rotate-signing-keys')
    const signatures = new Metric({
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
    })
    const watches: Watch[] = [
      {
        id: 'kms-quota',
        meaning: 'Signatures use more than 80 % of what KMS grants the account.',
        runbook: 'kms-quota',
        metric: signatures,
        threshold: 0.8 * 60 * kmsRequestsPerSecond,
      },
    ]
    if (rotation === undefined) return watches
    return [
      ...watches,
      {
        id: 'rotation-silent',
        meaning: 'The rotation of signing keys has not run for an hour.',
        runbook: 'rotation-overdue',
        metric: rotation.metricInvocations({ period: Duration.hours(1) }),
        threshold: 0,
        missingIsBad: true,
      },
    ]
  }

  private watchService({ config }: ObservabilityStackProps): Watch[] {
    const metric = (metricName: string, statistic: string) =>
      new Metric({ namespace: serviceNamespace(config), metricName, statistic, period })
    return [
      {
        id: 'rotation-overdue',
        meaning: 'A step of the rotation of signing keys is overdue by more than an hour.',
        runbook: 'rotation-overdue',
        metric: metric('RotationOverdueSeconds', 'Maximum'),
        threshold: 3_600,
      },
      {
        id: 'address-pool',
        meaning: 'A user asked for a deposit address and the pool was empty.',
        runbook: 'address-pool',
        metric: metric('AddressPoolEmpty', 'Sum'),
        threshold: 1,
      },
      {
        id: 'address-pool-low',
        meaning: 'A user was given one of the last deposit addresses of a pool.',
        runbook: 'address-pool',
        metric: metric('AddressPoolLow', 'Sum'),
        threshold: 1,
      },
      {
        id: 'ledger-difference',
        meaning: 'A balance does not follow from its bills.',
        runbook: 'ledger-difference',
        metric: metric('LedgerDifferences', 'Maximum'),
        threshold: 1,
      },
    ]
  }

  private addAlarm(config: Config, watch: Watch): void {
    const alarm = new Alarm(this, watch.id, {
      alarmName: `${config.namePrefix}${watch.id}`,
      alarmDescription: `${watch.meaning} What to do: infra/RUNBOOK.md#${watch.runbook}`,
      metric: watch.metric,
      threshold: watch.threshold,
      evaluationPeriods: watch.periods ?? 1,
      comparisonOperator: watch.missingIsBad
        ? ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: watch.missingIsBad ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    })
    if (this.topic) alarm.addAlarmAction(new SnsAction(this.topic))
  }

  private addDashboard(config: Config, { api, intake }: ObservabilityStackProps): void {
    const sum = (metricName: string, dimension: string) =>
      new MathExpression({
        expression: `SEARCH('{${serviceNamespace(config)},${dimension}} MetricName="${metricName}"', 'Sum', 300)`,
        label: '',
        usingMetrics: {},
      })
    new Dashboard(this, 'Dashboard', {
      dashboardName: `${config.namePrefix}account-service`,
      widgets: [
        [
          new GraphWidget({
            title: 'Requests and errors',
            left: [api.api.metricCount(), api.api.metricClientError(), api.api.metricServerError()],
          }),
          new GraphWidget({
            title: 'Latency',
            left: ['p50', 'p90', 'p99'].map((statistic) => api.api.metricLatency({ statistic })),
          }),
        ],
        [
          new GraphWidget({ title: 'Sign-ins', left: [sum('SignIns', 'method')] }),
          new GraphWidget({ title: 'Failures by name', left: [sum('Failures', 'failure')] }),
          new GraphWidget({ title: 'Events by outcome', left: [sum('Events', 'detail_type,outcome')] }),
        ],
        [
          new GraphWidget({
            title: 'Dead letters',
            left: intake.deadLetterQueues.map((queue) => queue.metricApproximateNumberOfMessagesVisible()),
          }),
          new GraphWidget({
            title: 'Function errors',
            left: [...api.functions, ...intake.functions].map((fn) => fn.metricErrors()),
          }),
        ],
      ],
    })
  }
}
