import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import {
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda'
import { expect } from 'vitest'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { readWallet } from '../../../../shared/ledger/wallet.ts'
import { addUser, adjustment } from '../../../support/ledger.ts'
import { putEvents } from '../../../support/put-event.ts'
import { pollOptions } from '../follow.ts'
import type { AlarmRehearsal, Room } from './room.ts'

const NAME = 'wallet.adjusted'
const rule = 'wallet-adjusted'

const queueOf = ({ stack }: Room, name: string) =>
  stack.aws.queues().find((queue) => queue.name === name) ?? expect.unreachable(name)

const balanceOf = async (userId: number) => {
  const { holdings } = await readWallet({ userId, wallet: 'asset' }, { consistent: true })
  return holdings.get('USDT')?.balance.toFixed()
}

/** Switches off the delivery from one queue, as somebody may by mistake. */
async function stopDelivery(name: string): Promise<void> {
  const client = new LambdaClient(clientOptions())
  const { EventSourceMappings = [] } = await client.send(new ListEventSourceMappingsCommand({}))
  const mapping = EventSourceMappings.find(({ EventSourceArn = '' }) => EventSourceArn.endsWith(`:${name}`))
  await client.send(new UpdateEventSourceMappingCommand({ UUID: mapping?.UUID, Enabled: false }))
  client.destroy()
}

/** Deletes the queues of every rule for events, or brings them back. */
function setQueues({ stack }: Room, exist: boolean): void {
  const set = (arn: string) => (exist ? arn.replace(/-gone$/, '') : `${arn}-gone`)
  for (const { targets } of stack.model.rules.filter(({ busName }) => busName !== 'default'))
    for (const target of targets) {
      target.arn = set(target.arn)
      if (target.deadLetterArn !== undefined) target.deadLetterArn = set(target.deadLetterArn)
    }
}

/** Sends an event to every rule of the bus, and one that no other rule takes, with a time an hour ago. */
async function putToEveryRule({ stack }: Room): Promise<void> {
  const { rules, outputs } = stack.model
  const kinds = rules.flatMap(({ busName, pattern = {} }) => {
    if (busName === 'default') return []
    const [[DetailType], [Source = 'business']] = [
      [pattern['detail-type']].flat(),
      [pattern['source']].flat(),
    ]
    return typeof DetailType === 'string' && typeof Source === 'string' ? [{ DetailType, Source }] : []
  })
  const client = new EventBridgeClient(clientOptions())
  const Time = new Date(Date.now() - 3_600_000)
  for (const kind of [...kinds, { DetailType: 'unknown', Source: 'business' }]) {
    const entry = { ...kind, Detail: '{}', EventBusName: outputs['EventBusName'], Time }
    const { FailedEntryCount } = await client.send(new PutEventsCommand({ Entries: [entry] }))
    expect(FailedEntryCount).toBe(0)
  }
  client.destroy()
}

let lostUser = 0

/** The alarms on events and their queues. `lost` are the names of the alarms on lost events. */
export const eventAlarms = (lost: string[]): AlarmRehearsal[] => [
  {
    cause: 'events reach neither their queues nor the dead letters, because somebody deleted both',
    raises: lost,
    journey: 'events',
    async fault(room) {
      lostUser = await addUser()
      setQueues(room, false)
      await putToEveryRule(room)
      await putEvents(NAME, [adjustment(lostUser)])
    },
    async mend(room) {
      const INSTANT = new Date(Date.now() - 60_000).toISOString()
      setQueues(room, true)
      const replayed = await room.section('lost-events').ops('events replay --from INSTANT', { INSTANT })
      expect(replayed.code, replayed.err).toBe(0)
      expect(await balanceOf(lostUser)).toBe('1')
    },
  },
  {
    cause: 'an event is rejected',
    raises: [`${rule}-dead-letters`],
    journey: 'events',
    async fault(room) {
      await putEvents(NAME, [{ nonsense: true }])
      await expect.poll(() => queueOf(room, `${rule}-dead-letters`).visible, pollOptions).toBe(1)
    },
    async mend({ section }) {
      const { ops } = section('dead-letters')
      await ops('dlq list')
      const { messages } = (await ops('dlq show NAME', { NAME })).result as { messages: { reason: string }[] }
      expect(messages).toMatchObject([{ reason: expect.stringMatching(/^invalid_detail/) as string }])
      expect((await ops('dlq drop NAME --reason invalid_detail --yes', { NAME })).result).toEqual({
        dropped: 1,
      })
    },
  },
  {
    cause: 'no rule takes an event, because its kind is misspelt',
    raises: ['unmatched-dead-letters'],
    journey: 'events',
    fault: () => putEvents('wallet.adjsuted', [adjustment(1)], 'operator'),
    async mend({ section }) {
      const { ops } = section('unmatched-events')
      const { messages } = (await ops('dlq show unmatched')).result as { messages: { body: string }[] }
      expect(messages.map(({ body }) => body).join()).toContain('wallet.adjsuted')
      expect((await ops('dlq drop unmatched --yes')).result).toEqual({ dropped: 1 })
    },
  },
  {
    cause: 'nobody takes from a queue, because its event source mapping is off',
    raises: [`${rule}-late`],
    journey: 'events',
    async fault() {
      await stopDelivery(rule)
      await putEvents(NAME, [adjustment(await addUser())])
    },
    minutes: 19,
    async mend(room) {
      const { ops } = room.section('late-messages')
      expect(await ops('maintenance status')).toMatchObject({ code: 1, result: { events: 'changing' } })
      const { queues } = (await ops('dlq list')).result as { queues: { name: string; waiting: number }[] }
      expect(queues.find(({ name }) => name === rule)).toMatchObject({ waiting: 1 })
      expect(await ops('maintenance off --only events')).toMatchObject({ code: 0 })
      await expect.poll(() => queueOf(room, rule), pollOptions).toMatchObject({ visible: 0, inFlight: 0 })
    },
  },
]
