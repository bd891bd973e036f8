import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Outcome } from '../../../shared/events/outcome.ts'
import { foreignSignatures, keyAlarm } from '../../constructs/key-changes.ts'
import { endpointFunctions } from '../../endpoint-functions.ts'
import { endpointName } from '../../names.ts'
import { eventAlarms } from './event-alarms.ts'
import { type JourneyAlarm, journeyOf, type UnnamedAlarm } from './journeys.ts'
import {
  failureMetric,
  failureShare,
  filled,
  functionMetric,
  functionNames,
  kmsUsage,
  type Observed,
  period,
  serviceMetric,
} from './metrics.ts'
import { sharedAlarms } from './shared-alarms.ts'

/** RSA signatures per second that KMS allows an account in most regions (AWS KMS quotas). */
const kmsSignaturesPerSecond = 1_000

/** The alarms of a stage, except those that EdgeStack and StandbyStack create in their own regions. */
export const alarmSpecs = (props: Observed): JourneyAlarm[] =>
  [
    ...functionAlarms(props),
    ...eventAlarms(props),
    ...apiAlarms(props),
    ...throttleAlarms(props),
    ...signingKeyAlarms(props),
    ...guessingAlarms(props),
    ...serviceAlarms(props),
    ...sharedAlarms(props),
    ...mailAlarms(),
    ...standbyAlarms(props),
  ].map((spec) => ({ ...spec, name: props.config.namePrefix + spec.id }))

const functionAlarms = (props: Observed): UnnamedAlarm[] =>
  functionNames(props).map((name) => ({
    id: `${name}-errors`,
    journey: journeyOf(name),
    meaning: 'A function crashed or ran out of time.',
    runbook: 'function-errors',
    metric: functionMetric(props.config, name, 'Errors'),
    threshold: 1,
  }))

const apiAlarms = ({ api: { api } }: Observed): UnnamedAlarm[] => [
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
 * Alarms on routes that get nearly as many requests as their throttle allows. Above the throttle, API Gateway
 * answers 429 to every client. API Gateway has no metric of throttled requests, so these alarms count the
 * requests that reach the function. The fallback function needs no such alarm.
 */
const throttleAlarms = ({ config }: Observed): UnnamedAlarm[] =>
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

const signingKeyAlarms = ({ config }: Observed): UnnamedAlarm[] => [
  {
    id: 'kms-quota',
    journey: 'keys',
    meaning: 'Signatures use more than 80 % of the account’s KMS quota.',
    metric: kmsUsage('CryptographicOperationsRsa'),
    threshold: 0.8 * 60 * kmsSignaturesPerSecond,
  },
  {
    id: 'rotation-overdue',
    journey: 'keys',
    meaning: 'The rotation of the signing keys has not run for an hour, or a step is overdue by an hour.',
    metric: serviceMetric(config, 'RotationOverdueSeconds', 'Maximum').with({ period: Duration.hours(1) }),
    threshold: 3_600,
    alarmWhenSilent: true,
  },
  ...['key-changes', foreignSignatures].map((id) => ({ ...keyAlarm(id, config), journey: 'keys' as const })),
]

/**
 * Alarms on the guessing of passwords and codes, and on requests over a limit. The thresholds of
 * `wrong-passwords` and `wrong-codes` are percentages of all tries, so they fit any number of users.
 */
const guessingAlarms = ({ config }: Observed): UnnamedAlarm[] => [
  {
    id: 'guessed-account',
    journey: 'sign-in',
    meaning: 'An account met a hundred wrong passwords in an hour.',
    metric: serviceMetric(config, 'GuessedAccounts', 'Sum'),
    threshold: 1,
  },
  {
    id: 'wrong-passwords',
    journey: 'sign-in',
    meaning: 'More than half of the passwords are wrong, and at least a hundred.',
    metric: failureShare(config, 'bad_credentials', 'user-login-with-password', 100),
    threshold: 50,
  },
  {
    id: 'wrong-codes',
    journey: 'sign-in',
    meaning: 'More than half of the second factors are wrong, and at least fifty.',
    metric: failureShare(config, 'bad_verification_code', 'user-login-2fa', 50),
    threshold: 50,
  },
  {
    id: 'too-many-requests',
    journey: 'requests',
    meaning: 'At least one request a second is refused, because its sender met a limit.',
    metric: failureMetric(config, 'too_many_requests'),
    threshold: 300,
  },
]

/** Alarms on replication lag: a failover loses the writes that the standby region has not received yet. */
const standbyAlarms = ({ config: { standby, failover, serviceName } }: Observed): UnnamedAlarm[] =>
  standby === undefined || failover
    ? []
    : [
        {
          id: 'replication-late',
          journey: 'wallets',
          meaning: 'The replica of the table in the standby region is more than a minute behind.',
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

const serviceAlarms = ({ config }: Observed): UnnamedAlarm[] => [
  {
    id: 'address-pool',
    journey: 'wallets',
    meaning: 'A pool of deposit addresses is almost empty, or a user met an empty one.',
    metric: serviceMetric(config, 'AddressPoolLow', 'Sum'),
    threshold: 1,
  },
  {
    id: 'settled-without-request',
    journey: 'wallets',
    meaning: 'A withdrawal was settled that was never requested, so its money came from the balance.',
    metric: serviceMetric(config, 'Events', 'Sum', {
      detail_type: 'withdrawal.updated',
      outcome: 'settled_without_request' satisfies Outcome,
    }),
    threshold: 1,
  },
  {
    id: 'ledger-difference',
    journey: 'wallets',
    meaning: 'A balance differs from the sum of its bills.',
    metric: serviceMetric(config, 'LedgerDifferences', 'Maximum'),
    threshold: 1,
  },
  {
    id: 'ledger-unverified',
    journey: 'wallets',
    meaning:
      'Some wallets have not been verified for three days, or the verification has not run for an hour.',
    metric: serviceMetric(config, 'LedgerVerificationAge', 'Maximum').with({ period: Duration.hours(1) }),
    threshold: 3 * 86_400,
    alarmWhenSilent: true,
  },
]

/** Alarms for bounces and complaints, at the rates that put an account under review (SES: sending review). */
const mailAlarms = (): UnnamedAlarm[] =>
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
