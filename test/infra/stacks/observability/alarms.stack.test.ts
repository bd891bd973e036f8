import { afterAll, describe, expect, it, vi } from 'vitest'
import type { Metric } from '../../../../infra/local/aws/cloudwatch/metrics.ts'
import { startLocalStack } from '../../../../infra/local/local-stack.ts'
import { ephemeral } from '../../../support/ephemeral.ts'
import { alarmsIn, type AlarmStage, synthesizeAlarmStage } from '../../runbook/alarms/alarm-stage.ts'
import { startRelay } from '../../runbook/alarms/relay.ts'
import { enterStack } from '../../runbook/own-stack.ts'

// On AWS the switch waits minutes until what had begun has ended; here every call ends within milliseconds.
vi.mock('../../../../infra/ops/maintenance/limits.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  probing: { answers: 2, pauseMilliseconds: 20 },
  drainMilliseconds: () => 100,
}))

const alarmTopicArn = 'arn:aws:sns:us-east-1:000000000000:alarms'
const relay = await startRelay()
let stage: AlarmStage | undefined
const stack = await startLocalStack({
  ...ephemeral,
  dynamodbEndpoint: relay.endpoint,
  demo: false,
  // A low throttle is reached by a few hundred requests, and its burst lets all of a rehearsal pass.
  settings: {
    signingKeyPublishSeconds: '2',
    alarmTopicArn,
    throttleRate: '1',
    throttleBurst: '5000',
    addressPoolLowMark: '2',
    mailDelaySeconds: '0',
    signInConcurrency: '60',
  },
  showLine: () => undefined,
  synthesize: async (outdir, settings) => {
    stage = await synthesizeAlarmStage(outdir, settings)
    return stage.served
  },
})
enterStack(stack)
// Imported only now, because these modules create AWS clients when they load.
const { openRoom, rehearse } = await import('../../runbook/alarms/room.ts')
const { deploymentAlarms, rehearsedFaults } = await import('../../runbook/alarms/deployments.ts')
const { eventAlarms } = await import('../../runbook/alarms/events.ts')
const { keyAlarms } = await import('../../runbook/alarms/keys.ts')
const { requestAlarms } = await import('../../runbook/alarms/requests.ts')
const { sharedAlarms } = await import('../../runbook/alarms/shared.ts')
const { signInAlarms } = await import('../../runbook/alarms/sign-in.ts')
const { aDisabledReplica } = await import('../../runbook/alarms/standby-region.ts')
const { walletAlarms } = await import('../../runbook/alarms/wallets.ts')

afterAll(async () => {
  await stack.stop()
  await relay.close()
})

const { served, standby, edge } = stage ?? expect.unreachable('the stack was not synthesized')
const room = openRoom(stack, relay, served)
const { alarms } = stack.model
const names = alarms.map(({ name }) => name)

/** Every rehearsal, in its order: the replay of lost events must not meet the events of others. */
const rehearsals = [
  ...eventAlarms(names.filter((name) => name.startsWith('lost-events-'))),
  ...sharedAlarms,
  ...requestAlarms,
  ...signInAlarms,
  ...keyAlarms,
  ...walletAlarms,
  ...deploymentAlarms,
]

/** Alarms of which there is one for each function, route or queue, and one of them is rehearsed. */
const families = [
  /-deployment-errors$/,
  /-deployment-faults$/,
  /(?<!-deployment)-errors$/,
  /-throttles$/,
  /-concurrency$/,
  /-at-throttle$/,
  /-late$/,
  /-dead-letters$/,
]

describe('alarms by their causes', () => {
  it.each(rehearsals.map((rehearsal) => [rehearsal.cause, rehearsal] as const))(
    '%s',
    { timeout: 60_000 },
    (_cause, rehearsal) => rehearse(room, rehearsal),
  )
})

/** The alarm of the standby region, which is none of the stack itself. */
const ofTheStandby = 'standby-key-changes'

it('somebody disables a replica of a key: the alarm of the standby region, and no other', async () => {
  await aDisabledReplica(stack, standby, ofTheStandby)
  await room.pass(1)
  expect(room.raised()).toEqual([])
})

/** The alarms that nothing raises here by their cause. */
const unrehearsed = {
  'edge-refusals-us-east-1':
    'the local stack has no firewall: edge-stack.test.ts holds it to what WAF counts',
}

it('every alarm of every stack has a rehearsal of its own, or of another function, route or queue', () => {
  const rehearsed = [...rehearsals.flatMap(({ raises }) => raises), ofTheStandby]
  const covered = (name: string) =>
    rehearsed.includes(name) ||
    families.some((family) => family.test(name) && rehearsed.some((other) => family.test(other)))
  const all = [...names, ...alarmsIn([...standby, ...edge]).map(({ name }) => name)]
  expect(all.filter((name) => !covered(name))).toEqual(Object.keys(unrehearsed))
  expect(rehearsed.filter((name) => !all.includes(name))).toEqual([])
})

it('every metric that an alarm names is one that the stack emits', async () => {
  // Functions that no rehearsal called fail to load, which counts for all of their metrics.
  for (const model of stack.model.functions) model.codeDirectory = '/nowhere'
  await Promise.all(stack.model.functions.map(({ logicalId }) => stack.invoke(logicalId, '{}')))
  const { metrics } = stack.aws.cloudwatch
  // Faults are counted alike by every function: those that were rehearsed stand for all.
  const counted = ({ namespace, name, dimensions }: Metric) =>
    metrics.has({ namespace, name, dimensions: name === 'Faults' ? rehearsedFaults : dimensions })
  const silent = alarms.flatMap(({ name, queries }) =>
    queries.filter(({ metric }) => !counted(metric)).map(({ metric }) => ({ name, metric })),
  )
  expect(silent).toEqual([])
})
