import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { AlarmSpec } from '../../constructs/add-alarms.ts'
import { keyChangesAlarm } from '../../constructs/key-changes.ts'
import { endpointFunctions } from '../../endpoint-functions.ts'
import type { Config } from '../../config.ts'
import { unmatchedQueueName, unmatchedRuleName } from '../../event-patterns.ts'
import { events } from '../../events.ts'
import { endpointName, eventName } from '../../names.ts'
import { type Journey, journeyOf } from './journeys.ts'
import {
  deadLetterMetric,
  failureMetric,
  failureShare,
  functionMetric,
  functionNames,
  type Observed,
  period,
  serviceMetric,
} from './metrics.ts'

/** RSA signatures per second that KMS allows an account in most regions (AWS KMS quotas). */
const kmsSignaturesPerSecond = 1_000

/** Operations with symmetric keys per second that KMS allows an account in any region (AWS KMS quotas). */
const kmsSymmetricPerSecond = 10_000

/** Concurrent executions of an account that asked for no more (Lambda quotas). */
const concurrentExecutions = 1_000

/** Period of alarms on what all journeys share, which must fire before its effects do. */
const minute = Duration.minutes(1)

/** An alarm of a journey. */
export interface JourneyAlarm extends AlarmSpec {
  journey: Journey
}

/** An alarm of which the name is the stage's prefix and the id. */
type Spec = Omit<JourneyAlarm, 'name'>

/** Every alarm of a stage, except those of the edge, which is in another region, and of deployments. */
export const alarmSpecs = (props: Observed): JourneyAlarm[] =>
  [
    ...functionAlarms(props),
    ...queueAlarms(props),
    ...apiAlarms(props),
    ...throttleAlarms(props),
    ...signingKeyAlarms(props),
    ...guessingAlarms(props),
    ...serviceAlarms(props),
    ...sharedAlarms(props),
    ...mailAlarms(),
    ...standbyAlarms(props),
  ].map((spec) => ({ ...spec, name: props.config.namePrefix + spec.id }))

const functionAlarms = (props: Observed): Spec[] =>
  functionNames(props).flatMap((name) => [
    {
      id: `${name}-errors`,
      journey: journeyOf(name),
      meaning: 'A function crashed or ran out of time.',
      runbook: 'function-errors',
      metric: functionMetric(props.config, name, 'Errors'),
      threshold: 1,
    },
    {
      id: `${name}-throttles`,
      journey: 'shared',
      meaning: 'Lambda did not start a function, because the account is at its concurrency limit.',
      runbook: 'function-throttles',
      metric: functionMetric(props.config, name, 'Throttles'),
      threshold: 1,
      periods: 2,
    },
  ])

const queueAlarms = ({ config, intake }: Observed): Spec[] => [
  ...intake.deadLetterQueueNames.map((deadLetters): Spec => {
    const queue = deadLetters.replace('-dead-letters', '')
    return {
      id: `${queue.replace(/\.fifo$/, '')}-late`,
      journey: 'events',
      meaning: 'A message has waited in a queue for more than a quarter of an hour.',
      runbook: 'late-messages',
      metric: new Metric({
        namespace: 'AWS/SQS',
        metricName: 'ApproximateAgeOfOldestMessage',
        dimensionsMap: { QueueName: config.namePrefix + queue },
        statistic: 'Maximum',
        period,
      }),
      threshold: 900,
    }
  }),
  ...lostEvents(config),
  ...intake.deadLetterQueueNames.map((name) => ({
    id: name.replace(/\.fifo$/, ''),
    journey: 'events' as const,
    meaning: 'An event was rejected or could not be applied.',
    runbook: 'dead-letters',
    metric: deadLetterMetric(config, name),
    threshold: 1,
  })),
  {
    id: unmatchedQueueName,
    journey: 'events',
    meaning: 'The bus got an event that no rule takes: it is unknown, or its source may not send it.',
    runbook: 'unmatched-events',
    metric: deadLetterMetric(config, unmatchedQueueName),
    threshold: 1,
  },
]

/** Metrics in one alarm, at most (CloudWatch: metric math). */
const maxMetrics = 10

/**
 * Alarms on events that reached neither the queue of their rule nor its dead letters. The rule that keeps
 * what no other takes has no dead letters.
 */
function lostEvents(config: Config): Spec[] {
  const rules = [...events.map(({ detailType }) => eventName(detailType)), unmatchedRuleName]
  const metrics = rules.map(
    (rule) =>
      [
        `lost_${rule.replaceAll('-', '_')}`,
        new Metric({
          namespace: 'AWS/Events',
          metricName: rule === unmatchedRuleName ? 'FailedInvocations' : 'InvocationsFailedToBeSentToDlq',
          dimensionsMap: { EventBusName: config.serviceName, RuleName: config.namePrefix + rule },
          statistic: 'Sum',
          period,
        }),
      ] as const,
  )
  return Array.from({ length: Math.ceil(metrics.length / maxMetrics) }, (_, part): Spec => {
    const chosen = metrics.slice(part * maxMetrics, (part + 1) * maxMetrics)
    return {
      id: `lost-events-${part + 1}`,
      journey: 'events',
      meaning: 'EventBridge could put an event neither into its queue nor into the dead letters.',
      runbook: 'lost-events',
      metric: new MathExpression({
        // EventBridge sends these metrics only when they are not 0.
        expression: chosen.map(([id]) => `FILL(${id}, 0)`).join(' + '),
        usingMetrics: Object.fromEntries(chosen),
        period,
      }),
      threshold: 1,
    }
  })
}

const apiAlarms = ({ api: { api } }: Observed): Spec[] => [
  {
    id: 'api-server-errors',
    journey: 'requests',
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
    journey: 'requests',
    meaning: 'More than 1 % of the requests take longer than two seconds.',
    runbook: 'latency',
    metric: api.metricLatency({ period, statistic: 'p99' }),
    threshold: 2_000,
    periods: 3,
  },
  {
    id: 'api-client-errors',
    journey: 'requests',
    meaning: 'More than half of the requests are answered with a 4xx status, and at least a thousand.',
    runbook: 'client-errors',
    metric: new MathExpression({
      expression: 'IF(errors >= 1000, 100 * errors / requests, 0)',
      usingMetrics: { errors: api.metricClientError(), requests: api.metricCount() },
      period,
    }),
    threshold: 50,
    periods: 2,
  },
]

/**
 * Alarms on routes of which somebody uses up the throttle, so that everybody gets API Gateway's 429. API
 * Gateway counts no throttled requests of its own, but as many as the throttle allows reach the function. The
 * fallback has no alarm: nobody misses its answers.
 */
const throttleAlarms = ({ config }: Observed): Spec[] =>
  endpointFunctions().map(({ entry, routes }) => {
    const name = endpointName(entry)
    const share = Math.min(...routes.map(({ throttleShare = 1 }) => throttleShare))
    return {
      id: `${name}-at-throttle`,
      journey: 'requests',
      meaning: 'A route gets as many requests as its throttle allows; further ones are refused.',
      runbook: 'at-throttle',
      metric: functionMetric(config, name, 'Invocations'),
      threshold: Math.floor(0.9 * Math.max(1, config.throttleRate * share) * period.toSeconds()),
    }
  })

const signingKeyAlarms = ({ config }: Observed): Spec[] => [
  {
    id: 'kms-quota',
    journey: 'keys',
    meaning: 'Signatures use more than 80 % of the account’s KMS quota.',
    runbook: 'kms-quota',
    metric: kmsUsage('CryptographicOperationsRsa'),
    threshold: 0.8 * 60 * kmsSignaturesPerSecond,
  },
  {
    id: 'rotation-silent',
    journey: 'keys',
    meaning: 'The rotation of the signing keys has not run for an hour.',
    runbook: 'rotation-overdue',
    metric: functionMetric(config, 'rotate-signing-keys', 'Invocations', Duration.hours(1)),
    threshold: 0,
    alarmWhenSilent: true,
  },
  {
    id: 'rotation-overdue',
    journey: 'keys',
    meaning: 'A step of the rotation of the signing keys is overdue by more than an hour.',
    runbook: 'rotation-overdue',
    metric: serviceMetric(config, 'RotationOverdueSeconds', 'Maximum'),
    threshold: 3_600,
  },
  { ...keyChangesAlarm('key-changes', `${config.namePrefix}key-changes`), journey: 'keys' },
]

/** Alarms on tries to get in by guessing. Shares of all tries, so that they fit a deployment of any size. */
const guessingAlarms = ({ config }: Observed): Spec[] => [
  {
    id: 'guessed-account',
    journey: 'sign-in',
    meaning: 'An account met a hundred wrong passwords in an hour.',
    runbook: 'guessed-account',
    metric: serviceMetric(config, 'GuessedAccounts', 'Sum'),
    threshold: 1,
  },
  {
    id: 'wrong-passwords',
    journey: 'sign-in',
    meaning: 'More than half of the passwords are wrong, and at least a hundred.',
    runbook: 'wrong-passwords',
    metric: failureShare(config, 'bad_credentials', 'user-login-with-password', 100),
    threshold: 50,
  },
  {
    id: 'wrong-codes',
    journey: 'sign-in',
    meaning: 'More than half of the second factors are wrong, and at least fifty.',
    runbook: 'wrong-codes',
    metric: failureShare(config, 'bad_verification_code', 'user-login-2fa', 50),
    threshold: 50,
  },
  {
    id: 'too-many-requests',
    journey: 'requests',
    meaning: 'At least one request a second is refused, because its sender met a limit.',
    runbook: 'too-many-requests',
    metric: failureMetric(config, 'too_many_requests'),
    threshold: 300,
  },
]

/**
 * A metric of DynamoDB that is 0 where it has no data: CloudWatch may ignore missing data of this namespace,
 * whatever an alarm says (API reference: PutMetricAlarm), and the alarm would stay raised for ever.
 */
const filled = (metric: Metric): MathExpression =>
  new MathExpression({
    expression: 'FILL(metric, 0)',
    usingMetrics: { metric },
    period: metric.period,
  })

/** A failover loses what the standby region has not received yet. */
const standbyAlarms = ({ config: { standby, failover, serviceName } }: Observed): Spec[] =>
  standby === undefined || failover
    ? []
    : [
        {
          id: 'replication-late',
          journey: 'wallets',
          meaning: 'The replica of the table in the standby region is more than a minute behind.',
          runbook: 'replication-late',
          metric: filled(
            new Metric({
              namespace: 'AWS/DynamoDB',
              metricName: 'ReplicationLatency',
              dimensionsMap: { TableName: serviceName, ReceivingRegion: standby.region },
              statistic: 'Average',
              period,
            }),
          ),
          threshold: 60_000,
          periods: 2,
        },
      ]

const serviceAlarms = ({ config }: Observed): Spec[] => [
  {
    id: 'address-pool',
    journey: 'wallets',
    meaning: 'A user asked for a deposit address, and the pool was empty.',
    runbook: 'address-pool',
    metric: serviceMetric(config, 'AddressPoolEmpty', 'Sum'),
    threshold: 1,
  },
  {
    id: 'address-pool-low',
    journey: 'wallets',
    meaning: 'A pool of deposit addresses is almost empty.',
    runbook: 'address-pool',
    metric: serviceMetric(config, 'AddressPoolLow', 'Sum'),
    threshold: 1,
  },
  {
    id: 'ledger-difference',
    journey: 'wallets',
    meaning: 'A balance differs from the sum of its bills.',
    runbook: 'ledger-difference',
    metric: serviceMetric(config, 'LedgerDifferences', 'Maximum'),
    threshold: 1,
  },
  {
    id: 'ledger-unverified',
    journey: 'wallets',
    meaning: 'Some wallets have not been verified for three days.',
    runbook: 'ledger-unverified',
    metric: serviceMetric(config, 'LedgerVerificationAge', 'Maximum'),
    threshold: 3 * 86_400,
  },
  {
    id: 'ledger-verification-silent',
    journey: 'wallets',
    meaning: 'The verification of the ledger has not run for an hour.',
    runbook: 'ledger-unverified',
    metric: functionMetric(config, 'verify-ledger', 'Invocations', Duration.hours(1)),
    threshold: 0,
    alarmWhenSilent: true,
  },
]

/** Alarms on what every journey uses; while one is raised, those of the journeys are not told. */
const sharedAlarms = ({ config }: Observed): Spec[] => {
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
      runbook: 'table-throttles',
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
      runbook: 'table-conflicts',
      metric: filled(table('TransactionConflict')),
      threshold: 600,
      periods: 5,
    },
    {
      id: 'account-concurrency',
      journey: 'shared',
      meaning: 'Functions use 80 % of the concurrent executions of an account, if it has 1,000.',
      runbook: 'function-throttles',
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'ClaimedAccountConcurrency',
        statistic: 'Maximum',
        period: minute,
      }),
      threshold: 0.8 * concurrentExecutions,
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

/** SES reviews an account whose mails bounce or annoy beyond these shares (SES: sending review process). */
const mailAlarms = (): Spec[] =>
  (
    [
      ['mail-bounces', 'Reputation.BounceRate', 0.05, 'Of the account’s mails, 5 % bounce.'],
      [
        'mail-complaints',
        'Reputation.ComplaintRate',
        0.001,
        'One in a thousand mails of the account is reported as spam.',
      ],
    ] as const
  ).map(([id, metricName, threshold, meaning]) => ({
    id,
    journey: 'sign-in',
    meaning,
    runbook: 'mail-reputation',
    metric: new Metric({ namespace: 'AWS/SES', metricName, statistic: 'Maximum', period: Duration.hours(1) }),
    threshold,
  }))

/** Calls of an account in a minute that count against one of its quotas of KMS. */
const kmsUsage = (resource: string): Metric =>
  new Metric({
    namespace: 'AWS/Usage',
    metricName: 'CallCount',
    dimensionsMap: { Service: 'KMS', Type: 'API', Resource: resource, Class: 'None' },
    statistic: 'Sum',
    period: minute,
  })
