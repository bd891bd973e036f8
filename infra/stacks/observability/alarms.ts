import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { AlarmSpec } from '../../constructs/add-alarms.ts'
import { keyChangesRuleName } from '../../constructs/key-changes.ts'
import { endpointFunctions } from '../../endpoint-functions.ts'
import { unmatchedQueueName } from '../../event-patterns.ts'
import { endpointName } from '../../names.ts'
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

/** An alarm of which the name is the stage's prefix and the id. */
type Spec = Omit<AlarmSpec, 'name'>

/** Every alarm of a stage, except those of the edge, which is in another region, and of deployments. */
export const alarmSpecs = (props: Observed): AlarmSpec[] =>
  [
    ...functionAlarms(props),
    ...queueAlarms(props),
    ...apiAlarms(props),
    ...throttleAlarms(props),
    ...signingKeyAlarms(props),
    ...guessingAlarms(props),
    ...serviceAlarms(props),
    ...standbyAlarms(props),
  ].map((spec) => ({ ...spec, name: props.config.namePrefix + spec.id }))

const functionAlarms = (props: Observed): Spec[] =>
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

const queueAlarms = ({ config, intake }: Observed): Spec[] => [
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

const apiAlarms = ({ api: { api } }: Observed): Spec[] => [
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
 * Gateway counts no throttled requests of its own, but as many as the throttle allows reach the function. The
 * fallback has no alarm: nobody misses its answers.
 */
const throttleAlarms = ({ config }: Observed): Spec[] =>
  endpointFunctions().map(({ entry, routes }) => {
    const name = endpointName(entry)
    const share = Math.min(...routes.map(({ throttleShare = 1 }) => throttleShare))
    return {
      id: `${name}-at-throttle`,
      meaning: 'A route gets as many requests as its throttle allows; further ones are refused.',
      runbook: 'at-throttle',
      metric: functionMetric(config, name, 'Invocations'),
      threshold: Math.floor(0.9 * Math.max(1, config.throttleRate * share) * period.toSeconds()),
    }
  })

const signingKeyAlarms = ({ config }: Observed): Spec[] => [
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
const guessingAlarms = ({ config }: Observed): Spec[] => [
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

/** A failover loses what the standby region has not received yet. */
const standbyAlarms = ({ config: { standby, failover, serviceName } }: Observed): Spec[] =>
  standby === undefined || failover
    ? []
    : [
        {
          id: 'replication-late',
          meaning: 'The replica of the table in the standby region is more than a minute behind.',
          runbook: 'replication-late',
          metric: new Metric({
            namespace: 'AWS/DynamoDB',
            metricName: 'ReplicationLatency',
            dimensionsMap: { TableName: serviceName, ReceivingRegion: standby.region },
            statistic: 'Average',
            period,
          }),
          threshold: 60_000,
          periods: 2,
        },
      ]

const serviceAlarms = ({ config }: Observed): Spec[] => [
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
