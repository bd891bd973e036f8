import { expect, it } from 'vitest'
import { events } from '../../../../infra/events.ts'
import { eventName } from '../../../../infra/names.ts'
import { standby } from '../../../support/configured-stage.ts'
import { ofType, synthesizeUnchecked } from '../synthesize.ts'

interface Metric {
  Namespace: string
  MetricName: string
  Dimensions?: { Name: string; Value: unknown }[]
}

interface Query {
  Id: string
  Expression?: string
  MetricStat?: { Metric: Metric; Period: number; Stat: string }
}

/** The properties of an alarm in a template (AWS::CloudWatch::Alarm). */
interface Alarm extends Metric {
  AlarmName: string
  Statistic?: string
  ExtendedStatistic?: string
  Period: number
  Metrics?: Query[]
  ComparisonOperator: string
  Threshold: number
  EvaluationPeriods: number
  TreatMissingData: string
}

const prefix = 'account-service-prod-'

const values = { standby, concurrentExecutions: 200 }
const stacks = await synthesizeUnchecked('prod', { values })
const all = ofType(stacks, 'AWS::CloudWatch::Alarm').filter(({ stack }) => stack === 'observability')
const alarms = new Map(
  all.map(({ resource: { Properties: properties } }) => {
    const alarm = properties as unknown as Alarm
    return [alarm.AlarmName.replace(prefix, ''), alarm]
  }),
)

const describeMetric = ({ Namespace: namespace, MetricName: metric, Dimensions: dimensions = [] }: Metric) =>
  [
    namespace.replace('account-service-prod', 'service'),
    metric,
    ...dimensions.map(
      ({ Name, Value }) => `${Name}=${typeof Value === 'string' ? Value.replace(prefix, '') : '…'}`,
    ),
  ].join(' ')

const silences: Record<string, string> = { breaching: ', or without data', notBreaching: '' }

function describeAlarm(alarm: Alarm): string[] {
  const { Metrics: queries, Statistic, ExtendedStatistic, Period, ComparisonOperator: comparison } = alarm
  const metrics = queries?.flatMap(({ Id, MetricStat: told }) =>
    told ? [`${Id}: ${describeMetric(told.Metric)}, ${told.Stat} of ${told.Period} s`] : [],
  ) ?? [`${describeMetric(alarm)}, ${Statistic ?? ExtendedStatistic ?? ''} of ${Period} s`]
  const operators: Record<string, string> = { GreaterThanOrEqualToThreshold: '>=' }
  return [
    ...(queries?.flatMap(({ Expression }) => Expression ?? []) ?? []),
    ...metrics,
    `${operators[comparison] ?? comparison} ${alarm.Threshold}, ${alarm.EvaluationPeriods} times` +
      (silences[alarm.TreatMissingData] ?? `, ${alarm.TreatMissingData}`),
  ]
}

/** Alarms of each function, queue and rule, keyed by their names' suffix. `*` is the name without suffix. */
const families: Record<string, string[]> = {
  errors: ['AWS/Lambda Errors FunctionName=*, Sum of 300 s', '>= 1, 1 times'],
  late: ['AWS/SQS ApproximateAgeOfOldestMessage QueueName=*, Maximum of 300 s', '>= 900, 1 times'],
  lost: [
    'AWS/Events InvocationsFailedToBeSentToDlq EventBusName=account-service-prod RuleName=*, Sum of 300 s',
    '>= 1, 1 times',
  ],
  'dead-letters': [
    'AWS/SQS ApproximateNumberOfMessagesVisible QueueName=*-dead-letters, Maximum of 300 s',
    '>= 1, 1 times',
  ],
}

/** Alarms on the whole service. `FILL` puts 0 where a metric of DynamoDB has no data. */
const single: Record<string, string[]> = {
  'unmatched-lost': [
    'AWS/Events FailedInvocations EventBusName=account-service-prod RuleName=unmatched, Sum of 300 s',
    '>= 1, 1 times',
  ],
  'unmatched-dead-letters': [
    'AWS/SQS ApproximateNumberOfMessagesVisible QueueName=unmatched-dead-letters, Maximum of 300 s',
    '>= 1, 1 times',
  ],
  'api-server-errors': [
    'IF(requests > 0, 100 * errors / requests, 0)',
    'errors: AWS/ApiGateway 5xx ApiId=…, Sum of 300 s',
    'requests: AWS/ApiGateway Count ApiId=…, SampleCount of 300 s',
    '>= 1, 2 times',
  ],
  'api-latency': ['AWS/ApiGateway Latency ApiId=…, p99 of 300 s', '>= 2000, 3 times'],
  'api-client-errors': [
    'IF(errors >= 1000, 100 * errors / requests, 0)',
    'errors: AWS/ApiGateway 4xx ApiId=…, Sum of 300 s',
    'requests: AWS/ApiGateway Count ApiId=…, SampleCount of 300 s',
    '>= 50, 2 times',
  ],
  'kms-quota': [
    'AWS/Usage CallCount Class=None Resource=CryptographicOperationsRsa Service=KMS Type=API, Sum of 60 s',
    '>= 48000, 1 times',
  ],
  'rotation-overdue': [
    'service RotationOverdueSeconds, Maximum of 3600 s',
    '>= 3600, 1 times, or without data',
  ],
  'key-changes': ['AWS/Events TriggeredRules RuleName=key-changes, Sum of 300 s', '>= 1, 1 times'],
  'foreign-signatures': [
    'AWS/Events TriggeredRules RuleName=foreign-signatures, Sum of 300 s',
    '>= 1, 1 times',
  ],
  'guessed-account': ['service GuessedAccounts, Sum of 300 s', '>= 1, 1 times'],
  'wrong-passwords': [
    'IF(failures >= 100, 100 * failures / calls, 0)',
    'failures: service Failures failure=bad_credentials, Sum of 300 s',
    'calls: AWS/Lambda Invocations FunctionName=user-login-with-password, Sum of 300 s',
    '>= 50, 1 times',
  ],
  'wrong-codes': [
    'IF(failures >= 50, 100 * failures / calls, 0)',
    'failures: service Failures failure=bad_verification_code, Sum of 300 s',
    'calls: AWS/Lambda Invocations FunctionName=user-login-2fa, Sum of 300 s',
    '>= 50, 1 times',
  ],
  'too-many-requests': ['service Failures failure=too_many_requests, Sum of 300 s', '>= 300, 1 times'],
  'address-pool': ['service AddressPoolLow, Sum of 300 s', '>= 1, 1 times'],
  'settled-without-request': [
    'service Events detail_type=withdrawal.updated outcome=settled_without_request, Sum of 300 s',
    '>= 1, 1 times',
  ],
  'ledger-difference': ['service LedgerDifferences, Maximum of 300 s', '>= 1, 1 times'],
  'ledger-unverified': [
    'service LedgerVerificationAge, Maximum of 3600 s',
    '>= 259200, 1 times, or without data',
  ],
  'table-throttles': [
    'FILL(reads, 0) + FILL(writes, 0)',
    'reads: AWS/DynamoDB ReadThrottleEvents TableName=account-service-prod, Sum of 60 s',
    'writes: AWS/DynamoDB WriteThrottleEvents TableName=account-service-prod, Sum of 60 s',
    '>= 60, 1 times',
  ],
  'table-conflicts': [
    'FILL(metric, 0)',
    'metric: AWS/DynamoDB TransactionConflict TableName=account-service-prod, Sum of 60 s',
    '>= 600, 5 times',
  ],
  'function-throttles': ['AWS/Lambda Throttles, Sum of 300 s', '>= 1, 2 times'],
  'account-concurrency': ['AWS/Lambda ClaimedAccountConcurrency, Maximum of 60 s', '>= 160, 1 times'],
  'kms-symmetric-quota': [
    'AWS/Usage CallCount Class=None Resource=CryptographicOperationsSymmetric Service=KMS Type=API, Sum of 60 s',
    '>= 480000, 1 times',
  ],
  'mail-bounces': ['AWS/SES Reputation.BounceRate, Maximum of 3600 s', '>= 0.05, 1 times'],
  'mail-complaints': ['AWS/SES Reputation.ComplaintRate, Maximum of 3600 s', '>= 0.001, 1 times'],
  'replication-late': [
    'FILL(metric, 0)',
    'metric: AWS/DynamoDB ReplicationLatency ReceivingRegion=eu-west-1 TableName=account-service-prod, Average of 300 s',
    '>= 60000, 2 times',
  ],
}

/** Alarms with computed thresholds, which another test checks. */
const computed = /-at-throttle$/

function familyOf(name: string): { end: string; of: string } | undefined {
  const end = Object.keys(families).find((one) => name.endsWith(`-${one}`))
  return end === undefined || name in single ? undefined : { end, of: name.slice(0, -end.length - 1) }
}

it('alarms on the whole service have the metrics, periods and thresholds that this test lists', () => {
  const found = [...alarms].filter(([name]) => familyOf(name) === undefined && !computed.test(name))
  expect(Object.fromEntries(found.map(([name, alarm]) => [name, describeAlarm(alarm)]))).toEqual(single)
})

it('every function, queue, dead-letter queue and rule has its alarm', () => {
  const of: Record<string, string[]> = {}
  for (const [name, alarm] of alarms) {
    const family = familyOf(name)
    if (family === undefined) continue
    ;(of[family.end] ??= []).push(family.of)
    const described = describeAlarm(alarm).map((text) =>
      text.replace(`=${family.of}`, '=*').replace('.fifo', ''),
    )
    expect(described, name).toEqual(families[family.end])
  }
  const namesOf = (type: string, property: string) =>
    ofType(stacks, type).map(({ resource }) => String(resource.Properties[property]).replace(prefix, ''))
  const functions = namesOf('AWS::Lambda::Function', 'FunctionName').sort()
  expect(of['errors']?.sort()).toEqual(functions)
  const queues = namesOf('AWS::SQS::Queue', 'QueueName').map((name) => name.replace('.fifo', ''))
  const letters = queues.filter((name) => name.endsWith('-dead-letters') && !name.includes('key-changes'))
  expect([...(of['dead-letters'] ?? []), 'unmatched'].sort()).toEqual(
    letters.map((name) => name.replace('-dead-letters', '')).sort(),
  )
  expect(of['lost']?.sort()).toEqual(events.map(({ detailType }) => eventName(detailType)).sort())
  expect(of['late']?.sort()).toEqual(queues.filter((name) => !name.endsWith('-dead-letters')).sort())
})
