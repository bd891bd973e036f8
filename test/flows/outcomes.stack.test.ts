import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { clientOptions } from '../../shared/aws/client-options.ts'
import type { OutcomeDetail } from '../../shared/events/outcome.ts'
import { listen } from '../support/listener.ts'
import { addUser, adjustment } from '../support/ledger.ts'
import { stack } from '../support/oauth.ts'
import { patience } from '../support/quirks.ts'
import { ops } from '../infra/ops/run-ops.ts'

let listener: Awaited<ReturnType<typeof listen>>
const told = new Map<string, OutcomeDetail>()

beforeAll(async () => {
  listener = await listen({ config: clientOptions(), busName: stack.event_bus })
})
afterAll(() => listener.close())

/** Puts an event on the bus, and resolves with its id. */
async function put(DetailType: string, detail: object, Source = 'business'): Promise<string> {
  const bus = new EventBridgeClient(clientOptions())
  const entry = { EventBusName: stack.event_bus, Source, DetailType, Detail: JSON.stringify(detail) }
  const { Entries } = await bus.send(new PutEventsCommand({ Entries: [entry] }))
  return Entries?.[0]?.EventId ?? ''
}

const outcomeOf = (eventId: string): Promise<OutcomeDetail> =>
  vi.waitFor(
    async () => {
      for (const outcome of await listener.receive()) told.set(outcome.event_id, outcome)
      return told.get(eventId) ?? expect.fail('not told yet')
    },
    { timeout: patience(25_000), interval: 50 },
  )

it('a listener of its own is told what became of each event: applied, without effect, or refused and why', async () => {
  const userId = await addUser()
  const detail = adjustment(userId, { reason: 'never told' })
  const first = await outcomeOf(await put('wallet.adjusted', detail))
  expect(first).toMatchObject({
    detail_type: 'wallet.adjusted',
    business_key: detail.adjustment_id,
    outcome: 'applied',
    user_id: userId,
    subject: { id: `A${userId}-1` },
  })
  const again = await outcomeOf(await put('wallet.adjusted', detail))
  expect(again).toMatchObject({ outcome: 'no_effect', business_key: detail.adjustment_id })
  const other = await outcomeOf(await put('wallet.adjusted', { ...detail, amount: '2' }))
  expect(other).toMatchObject({ outcome: 'refused', reason: 'conflicting_content', user_id: userId })
  expect(JSON.stringify([...told.values()])).not.toContain('never told')
  const status = await ops(['event', 'status', 'wallet.adjusted', detail.adjustment_id, '--json'])
  expect(JSON.parse(status.out)).toMatchObject({
    outcome: 'applied',
    event_id: first.event_id,
    subject: first.subject,
    refusals: [{ event_id: other.event_id, reason: 'conflicting_content', dead_letter: 'sent' }],
  })
})

it('`event status` of an event that never came exits 1', async () => {
  const { code, err } = await ops(['event', 'status', 'wallet.adjusted', randomUUID()])
  expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('never came') as string })
  expect((await ops(['event', 'status', 'wallet.emptied', 'x'])).code).toBe(1)
})

it('outcomes do not come back: no queue of the service gets them', async () => {
  await outcomeOf(await put('wallet.adjusted', adjustment(await addUser())))
  const sqs = new SQSClient(clientOptions())
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: 'unmatched-dead-letters' }))
  const AttributeNames = ['ApproximateNumberOfMessages' as const]
  const count = async () =>
    (await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }))).Attributes
  const before = await count()
  await outcomeOf(await put('wallet.adjusted', adjustment(await addUser())))
  expect(await count()).toEqual(before)
})

it('the console lists the outcomes as they come', async () => {
  const eventId = await put('wallet.adjusted', adjustment(await addUser()))
  const outcome = await outcomeOf(eventId)
  const answer = await fetch(`${stack.base_url}/_local/outcomes`)
  const { outcomes } = (await answer.json()) as { outcomes: OutcomeDetail[] }
  expect(outcomes).toContainEqual(outcome)
})
