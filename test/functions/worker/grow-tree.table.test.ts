import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { Context } from 'aws-lambda'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { handler } from '../../../functions/worker/grow-tree.ts'
import { readProfile } from '../../../shared/community/profile.ts'
import { readJournal } from '../../../shared/community/growth/journal.ts'
import { notifyTreeQueue } from '../../../shared/community/growth/queue.ts'
import { db } from '../../../shared/db/table.ts'
import { requireEnv } from '../../../shared/env.ts'
import { log } from '../../../shared/log.ts'
import { newUserIds } from '../../support/community.ts'
import { buy, join } from '../../support/community-events.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'
import { toSqsEvent } from '../../support/sqs-event.ts'
import { addNewcomers, addRoot } from '../../support/newcomers.ts'

/** The time that the worker keeps free at the end of its invocation. */
const reserveMilliseconds = 5_000

/** `sent` has the messages sent to the queue; `pauses` has the delays before redeliveries, in seconds. */
let sent: { group: string | undefined; id: string | undefined }[] = []
let pauses: (number | undefined)[] = []

beforeEach(() => {
  sent = []
  pauses = []
  process.env['QUEUE_URL'] = requireEnv('GROW_TREE_QUEUE_URL')
  vi.spyOn(SQSClient.prototype, 'send').mockImplementation((command: unknown) => {
    if (command instanceof SendMessageCommand) {
      const { MessageGroupId: group, MessageDeduplicationId: id } = command.input
      sent.push({ group, id })
    } else if (command instanceof ChangeMessageVisibilityCommand) pauses.push(command.input.VisibilityTimeout)
    else throw new Error('an unexpected call')
    return Promise.resolve({}) as never
  })
})
/** Every call to the table takes half a second of fake time, however fast the machine is. */
function slowTable(): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  const send = db.send.bind(db) as (command: unknown) => Promise<unknown>
  vi.spyOn(db, 'send').mockImplementation((command) => {
    vi.setSystemTime(Date.now() + 500)
    return send(command) as never
  })
}

async function deliver(rootIds: number[], milliseconds: number) {
  const end = Date.now() + reserveMilliseconds + milliseconds
  const bodies = rootIds.map((rootId) => JSON.stringify({ root_id: rootId }))
  const event = toSqsEvent(bodies.map((body) => ({ body })))
  const context = { getRemainingTimeInMillis: () => end - Date.now() } as Context
  const { batchItemFailures } = await handler(event, context)
  return batchItemFailures.length
}

const toldAbout = (rootId: number) => sent.filter(({ group }) => group === String(rootId))

test('if the worker runs out of time, its message comes again at once, without a fault', async () => {
  const rootId = await addRoot()
  await addNewcomers(rootId, 240)
  await notifyTreeQueue(rootId)
  slowTable()
  const warnings = [vi.spyOn(log, 'warn'), vi.spyOn(log, 'error')]
  let runs = 0
  const metrics = await emittedMetrics(async () => {
    do runs += 1
    while ((await deliver([rootId], 5_000)) === 1)
  })
  expect(runs).toBeGreaterThan(1)
  expect(pauses).toEqual(Array.from({ length: runs - 1 }, () => 0))
  expect(toldAbout(rootId)).toHaveLength(1)
  expect(await readProfile(rootId)).toMatchObject({ directCount: 240, teamCount: 240 })
  expect(await readJournal(rootId, 1)).toEqual([])
  expect(metrics).toEqual([])
  for (const warning of warnings) expect(warning).not.toHaveBeenCalled()
})

test('the worker interrupts a large referral tree in time for the others of the batch', async () => {
  const [large, small] = [await addRoot(), await addRoot()]
  await addNewcomers(large, 800)
  await addNewcomers(small, 3)
  slowTable()
  expect(await deliver([large, small], 20_000)).toBe(1)
  expect((await readProfile(small))?.teamCount).toBe(3)
  expect((await readJournal(large, 1)).length).toBe(1)
})

test('each message about a referral tree has its own deduplication id', async () => {
  const rootId = await addRoot()
  await Promise.all(Array.from({ length: 5 }, () => notifyTreeQueue(rootId)))
  expect(new Set(sent.map(({ id }) => id)).size).toBe(5)
})

// The first attempt may have failed.
test('an event that is delivered again sends the message about its referral tree again', async () => {
  const rootId = newUserIds()
  await join({ userId: rootId, nickname: 'A', email: `${rootId}@example.com`, registeredAt: 1 })
  const child = { userId: rootId + 1, nickname: 'B', email: `${rootId + 1}@example.com`, registeredAt: 1 }
  await join({ ...child, referrerId: rootId })
  for (const expected of [2, 3]) {
    await buy(child.userId, '1', `${rootId}-once`)
    expect(toldAbout(rootId)).toHaveLength(expected)
  }
})

const failWith = (error: Error) =>
  vi.spyOn(db, 'send').mockImplementation(() => {
    throw error
  })

// Only an unexpected error counts as a fault of the service.
test.each([
  ['a throttled table', Object.assign(new Error('slow'), { name: 'ThrottlingException' }), 0],
  ['an unexpected error', new TypeError('x is undefined'), 1],
])('after %s, the worker retries a referral tree after 2 seconds', async (_what, error, faults) => {
  const rootId = await addRoot()
  vi.spyOn(log, 'warn').mockReturnValue(undefined)
  const failing = failWith(error)
  const metrics = await emittedMetrics(async () => expect(await deliver([rootId], 60_000)).toBe(1))
  failing.mockRestore()
  expect(pauses).toEqual([2])
  expect(metrics.filter(({ name }) => name === 'Faults')).toHaveLength(faults)
})

describe('of a batch with invalid messages', () => {
  const work = async () => {
    const rootId = await addRoot()
    const warn = vi.spyOn(log, 'warn')
    const bodies = ['{"secret', 'null', '{"root_id":"secret"}', `{"root_id":${rootId}}`]
    const event = toSqsEvent(bodies.map((body, i) => ({ id: `message ${i}`, body })))
    const context = { getRemainingTimeInMillis: () => 60_000 } as Context
    const { batchItemFailures } = await handler(event, context)
    return { warn, failed: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier) }
  }

  test('only these fail', async () => {
    expect((await work()).failed).toEqual(['message 0', 'message 1', 'message 2'])
    expect(pauses).toEqual([0, 0, 0])
  })

  test('the log quotes none', async () => {
    const { warn } = await work()
    expect(warn).toHaveBeenCalled()
    expect(JSON.stringify(warn.mock.calls)).not.toContain('secret')
  })
})
