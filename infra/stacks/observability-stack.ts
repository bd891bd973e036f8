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
import { unmatchedQueueName } from '../event-patterns.ts'
import { KeyChanges, keyChangesRuleName } from '../constructs/key-changes.ts'
import { endpointFunctions } from '../routes.ts'
import type { ApiStack } from './api-stack.ts'
import type { DataStack } from './data-stack.ts'
import type { IntakeStack } from './intake-stack.ts'

interface ObservabilityStackProps extends StackProps {
  config: Config
  data: DataStack
  api: ApiStack
  intake: IntakeStack
}

/** A CloudWatch alarm to create. */
interface AlarmSpec {
  id: string
  /** What the alarm reports, in one sentence. */
  meaning: string
  /** Anchor of the section in infra/RUNBOOK.md that says what to do about the alarm. */
  runbook: string
  metric: IMetric
  threshold: number
  /** Number of consecutive periods over the threshold that raise the alarm. Default: 1. */
  periods?: number
  /** Raises the alarm when the metric has no data, or is not above the threshold. */
  alarmWhenSilent?: true
}

const period = Duration.minutes(5)

/** RSA signatures per second that KMS allows an account in most regions (AWS KMS quotas). */
const kmsSignaturesPerSecond = 1_000

/** The alarms of the service, each with a link to its section of the runbook, and one dashboard. */
export class ObservabilityStack extends Stack {
  constructor(scope: Construct, id: string, props: ObservabilityStackProps) {
    super(scope, id, props)
    const { config, data, intake } = props
    // The local stack has no CloudTrail, whose events the rule would match.
    if (config.stage !== 'local')
      new KeyChanges(this, 'KeyChanges', {
        config,
        keys: [data.macKey, data.totpKey, ...(data.eventKey ? [data.eventKey] : [])],
        rotationRole: intake.scheduleRoles.get('rotate-signing-keys'),
      })
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
  ...throttleAlarms(props),
  ...signingKeyAlarms(props),
  ...guessingAlarms(props),
  ...serviceAlarms(props),
]

const functionAlarms = (props: ObservabilityStackProps): AlarmSpec[] =>
  functionNames(props).flatMap((name) => [
    {
      id: `${name}-errors`,
      meaning: 'A function crashed, timed out or lacked a permission.',
      runbook: 'function-errors',
      metric: functionMetric(props.config, name, 'Errors'),
      threshold: 1,
    },
    {
      id: `${name}-throttles`,
      meaning: 'Lambda did not start a function, because the account is at its concurrency limit.',
      runbook: 'function-throttles',
      metric: functionMetric(props.config, name, 'Throttles'),
      threshold: 1,
      periods: 2,
    },
  ])

const queueAlarms = ({ config, intake }: ObservabilityStackProps): AlarmSpec[] => [
  ...intake.deadLetterQueueNames.map((name) => ({
    id: name.replace(/\.fifo$/, ''),
    meaning: 'An event was rejected or could not be applied.',
    runbook: 'dead-letters',
    metric: deadLetterMetric(config, name),
    threshold: 1,
  })),
  {
    id: unmatchedQueueName,
    meaning: 'The bus got an event that no rule takes: it is unknown, or its source may not send it.',
    runbook: 'unmatched-events',
    metric: deadLetterMetric(config, unmatchedQueueName),
    threshold: 1,
  },
]

const apiAlarms = ({ api: { api } }: ObservabilityStackProps): AlarmSpec[] => [
  {
    id: 'api-server-errors',
    meaning: 'More than 1 % of the requests are answered with a 5xx status.',
    runbook: 'server-errors',
    metric: new MathExpression({
      expression: 'IF(requests > 0, 100 * errors / requests, 0)',
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

/**
 * Alarms on routes of which somebody uses up the throttle, so that everybody gets API Gateway's 429. API
 * Gateway counts no throttled requests of its own, but as many as the throttle allows reach the function.
 */
const throttleAlarms = ({ config }: ObservabilityStackProps): AlarmSpec[] =>
  endpointFunctions().map(({ entry, routes }) => {
    const name = entry.replaceAll('/', '-')
    const share = Math.min(...routes.map(({ throttleShare = 1 }) => throttleShare))
    return {
      id: `${name}-at-throttle`,
      meaning: 'A route gets as many requests as its throttle allows; further ones are refused.',
      runbook: 'at-throttle',
      metric: functionMetric(config, name, 'Invocations'),
      threshold: Math.floor(0.9 * Math.max(1, config.throttleRate * share) * period.toSeconds()),
    }
  })

const signingKeyAlarms = ({ config }: ObservabilityStackProps): AlarmSpec[] => [
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
    metric: functionMetric(config, 'rotate-signing-keys', 'Invocations', Duration.hours(1)),
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
  {
    id: 'key-changes',
    meaning: 'Somebody disabled, deleted, tagged or granted a KMS key, or changed its policy, or tried to.',
    runbook: 'key-changes',
    metric: new Metric({
      namespace: 'AWS/Events',
      metricName: 'TriggeredRules',
      dimensionsMap: { RuleName: keyChangesRuleName(config) },
      statistic: 'Sum',
      period,
    }),
    threshold: 1,
  },
]

/** Alarms on tries to get in by guessing. Shares of all tries, so that they fit a deployment of any size. */
const guessingAlarms = ({ config }: ObservabilityStackProps): AlarmSpec[] => [
  {
    id: 'guessed-account',
    meaning: 'An account met a hundred wrong passwords in an hour.',
    runbook: 'guessed-account',
    metric: serviceMetric(config, 'GuessedAccounts', 'Sum'),
    threshold: 1,
  },
  {
    id: 'wrong-passwords',
    meaning: 'More than half of the passwords are wrong, and at least a hundred.',
    runbook: 'wrong-passwords',
    metric: failureShare(config, 'bad_credentials', 'user-login-with-password', 100),
    threshold: 50,
  },
  {
    id: 'wrong-codes',
    meaning: 'More than half of the second factors are wrong, and at least fifty.',
    runbook: 'wrong-codes',
    metric: failureShare(config, 'bad_verification_code', 'user-login-2fa', 50),
    threshold: 50,
  },
  {
    id: 'too-many-requests',
    meaning: 'At least one request a second is refused, because its sender met a limit.',
    runbook: 'too-many-requests',
    metric: failureMetric(config, 'too_many_requests'),
    threshold: 300,
  },
]

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

/** Names of all functions of the stage, without its prefix. */
const functionNames = ({ api, intake }: ObservabilityStackProps): string[] => [
  ...api.functionNames,
  ...intake.functionNames,
]

/**
 * One of Lambda's metrics of a function. It names the function in plain text: a CDK reference would export
 * the name from the other stack, and CloudFormation refuses to remove an export in use, so no function could
 * ever be removed.
 */
const functionMetric = (config: Config, name: string, metricName: string, every = period): Metric =>
  new Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: config.namePrefix + name },
    statistic: 'Sum',
    period: every,
  })

const deadLetterMetric = (config: Config, name: string): Metric =>
  new Metric({
    namespace: 'AWS/SQS',
    metricName: 'ApproximateNumberOfMessagesVisible',
    dimensionsMap: { QueueName: config.namePrefix + name },
    statistic: 'Maximum',
    period,
  })

/**
 * Quotes a name in a CloudWatch search expression, which requires quotes around characters other than letters
 * and digits.
 */
const quote = (name: string): string => `"${name}"`

/** One of the custom metrics that the functions emit: see shared/emit-metric.ts. */
const serviceMetric = ({ serviceName }: Config, metricName: string, statistic: string): Metric =>
  new Metric({ namespace: serviceName, metricName, statistic, period })

/** The number of requests that failed in one way: see shared/errors.ts. */
const failureMetric = ({ serviceName }: Config, failure: string): Metric =>
  new Metric({
    namespace: serviceName,
    metricName: 'Failures',
    dimensionsMap: { failure },
    statistic: 'Sum',
    period,
  })

/** The percentage of a function's calls that failed in one way; 0 below a number of failures. */
const failureShare = (config: Config, failure: string, name: string, atLeast: number): MathExpression =>
  new MathExpression({
    expression: `IF(failures >= ${atLeast}, 100 * failures / calls, 0)`,
    usingMetrics: {
      failures: failureMetric(config, failure),
      calls: functionMetric(config, name, 'Invocations'),
    },
    period,
  })

function dashboardRows(props: ObservabilityStackProps): GraphWidget[][] {
  const { config, intake } = props
  const { api } = props.api
  const sumBy = (dimensions: string[], metricName: string) =>
    new MathExpression({
      expression: `SEARCH('{${[config.serviceName, ...dimensions].map(quote).join(',')}} MetricName="${metricName}"', 'Sum', 300)`,
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
      graph('Sign-ins', [sumBy(['method'], 'SignIns')]),
      graph('Failures by name', [sumBy(['failure'], 'Failures')]),
      graph('Unavailable by cause', [sumBy(['cause'], 'Unavailable')]),
      graph('Events by outcome', [sumBy(['detail_type', 'outcome'], 'Events')]),
    ],
    [
      graph(
        'Dead letters',
        [...intake.deadLetterQueueNames, unmatchedQueueName].map((name) => deadLetterMetric(config, name)),
      ),
      graph(
        'Function errors',
        functionNames(props).map((name) => functionMetric(config, name, 'Errors')),
      ),
    ],
  ]
}
