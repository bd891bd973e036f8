import { Duration, type Stack } from 'aws-cdk-lib'
import { type Alarm, AlarmRule, CompositeAlarm } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Topic } from 'aws-cdk-lib/aws-sns'
import type { Config } from '../../config.ts'
import type { AlarmSpec } from '../../constructs/add-alarms.ts'

/** A journey is a group of alarms. It watches one thing that users do, or one task of the service itself. */
const journeys = {
  'sign-in': 'Users may not be able to sign in.',
  tokens: 'Clients may not get tokens, or not be able to verify them.',
  wallets: 'Wallets, deposits or the ledger are concerned.',
  community: 'The community or the dashboard is concerned.',
  events: 'Events are late, refused or lost.',
  keys: 'The signing keys or their rotation are concerned.',
} as const

/**
 * Besides the journeys, there are two groups of alarms: `shared` for what all journeys need, and `requests`
 * for failures that clients see. A fault sends one notification, because alarms of `shared` silence all other
 * groups, and alarms of a journey silence `requests`.
 */
export type Journey = keyof typeof journeys | 'shared' | 'requests'

/** An alarm, and the journey (group of alarms) to which it belongs. */
export interface JourneyAlarm extends AlarmSpec {
  journey: Journey
}

/** An alarm whose name is not set yet: the name will be the stage's prefix, followed by the alarm's id. */
export type UnnamedAlarm = Omit<JourneyAlarm, 'name'>

const journeysByPrefix: [prefix: RegExp, journey: Journey][] = [
  [/^user-/, 'sign-in'],
  [/^(oauth2|well-known)-/, 'tokens'],
  [/^(community|dashboard)-/, 'community'],
  [/^(intake|worker)-/, 'events'],
  [/^rotate-/, 'keys'],
]

/** Finds the journey that a function belongs to. The function's name is given without the stage's prefix. */
export const journeyOf = (functionName: string): Journey =>
  journeysByPrefix.find(([prefix]) => prefix.test(functionName))?.[1] ?? 'wallets'

/** Before an alarm notifies, it waits this long for a broader alarm, which would silence it. */
const waitPeriod = Duration.minutes(2)
/** How long an alarm stays silent after a broader alarm has ended. */
const extensionPeriod = Duration.minutes(5)

/** Names (without prefix) of the two alarms that show a stage's health: any fault raises one of them. */
export const healthAlarms = ['causes', 'requests']

/**
 * Creates an alarm for `requests`, one for `shared` and one for each journey; all notify the topic. Another
 * alarm, `causes`, combines those of `shared` and of the journeys. It only silences the alarm of `requests`.
 */
export function addJourneys(
  scope: Stack,
  config: Config,
  alarms: ReadonlyMap<Journey, readonly Alarm[]>,
): void {
  const { alarmTopicArn } = config
  const action = alarmTopicArn && new SnsAction(Topic.fromTopicArn(scope, 'AlarmTopic', alarmTopicArn))
  const join = (
    name: string,
    meaning: string,
    members: readonly (Alarm | CompositeAlarm)[],
    actionsSuppressor?: CompositeAlarm,
  ) =>
    new CompositeAlarm(scope, `${name}-journey`, {
      compositeAlarmName: config.namePrefix + name,
      alarmDescription: `${meaning} What to do: infra/RUNBOOK.md#one-alarm-for-a-fault`,
      alarmRule: AlarmRule.anyOf(...members),
      ...(actionsSuppressor && {
        actionsSuppressor,
        actionsSuppressorWaitPeriod: waitPeriod,
        actionsSuppressorExtensionPeriod: extensionPeriod,
      }),
    })
  const membersOf = (journey: Journey) => alarms.get(journey) ?? []
  const shared = join('shared', 'What every part of the service needs is at its limit.', membersOf('shared'))
  const single = Object.entries(journeys).map(([name, meaning]) =>
    join(name, meaning, membersOf(name as Journey), shared),
  )
  const causes = join('causes', 'A part of the service, or what all share, fails.', [shared, ...single])
  const requests = join('requests', 'Requests fail, are slow or flood in.', membersOf('requests'), causes)
  if (action) for (const alarm of [shared, ...single, requests]) alarm.addAlarmAction(action)
}
