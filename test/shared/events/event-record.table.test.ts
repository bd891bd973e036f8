import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { createHash, randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import * as v from 'valibot'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { readItem } from '../../../shared/db/read.ts'
import { db } from '../../../shared/db/table.ts'
import { applyOnce } from '../../../shared/events/event-record.ts'
import { maxReceives } from '../../../shared/events/delivery.ts'
import { type Intake, intake } from '../../../shared/events/intake.ts'
import { RejectedEvent } from '../../../shared/events/rejected-event.ts'
import { contextWith } from '../../support/deliver.ts'
import { toSqsEvent } from '../../support/sqs-event.ts'
import { addUser, adjustment, balanceOf } from '../../support/ledger.ts'
import { serveHttp } from '../../support/serve-http.ts'

/** The attribute `refusals` of every dead letter that the queue accepted. */
let letters: (string | undefined)[] = []
let answers: (() => void)[] = []

beforeEach(() => {
  letters = []
  answers = []
  process.env['QUEUE_URL'] = 'http://queue.invalid/events'
  process.env['DEAD_LETTER_QUEUE_URL'] = 'http://queue.invalid/dead-letters'
  vi.spyOn(SQSClient.prototype, 'send').mockImplementation((command: unknown) => {
    if (!(command instanceof SendMessageCommand)) return
    answers.shift()?.()
    letters.push(command.input.MessageAttributes?.['refusals']?.StringValue)
  })
})
interface Copy {
  id?: string
  eventId: string
  sentAt: number
  firstReceivedAt?: number
  refusals?: string
  detail: object
  receives?: number
}

/** A copy of a new event that has waited its minute, so that lack of funds is final. */
const newCopy = (detail: object): Copy => {
  const now = Date.now()
  return { eventId: randomUUID(), sentAt: now, firstReceivedAt: now - 60_000, detail }
}

/** Delivers copies to a handler in one batch. Resolves with how many of them SQS must deliver again. */
async function deliver(handler: Intake, copies: Copy[], milliseconds = 30_000): Promise<number> {
  const messages = copies.map((copy) => ({
    ...copy,
    body: JSON.stringify({ id: copy.eventId, detail: copy.detail }),
  }))
  const { batchItemFailures } = await handler(toSqsEvent(messages), contextWith(milliseconds))
  return batchItemFailures.length
}

const intakeThat = (apply: Intake['apply']) =>
  intake({
    detailType: 'test.happened',
    detail: v.looseObject({ key: v.string() }),
    key: ({ key }) => key,
    apply: (detail, record) => apply(detail as never, record),
  })

const reject = async () => {
  throw new RejectedEvent('conflicting_content')
}
const refusing = intakeThat(reject)
test('a refused event leaves one dead letter, however often SQS delivers its message again', async () => {
  const copy = { ...newCopy({ key: randomUUID() }), id: randomUUID() }
  for (let receives = 1; receives <= 25; receives += 1)
    expect(await deliver(refusing, [{ ...copy, receives }])).toBe(0)
  expect(letters).toHaveLength(1)
})

test('a refused event leaves one dead letter, even if SQS delivers ten copies of the event in one batch', async () => {
  const copy = newCopy({ key: randomUUID() })
  const copies = Array.from({ length: 10 }, () => copy)
  const waiting = await deliver(refusing, copies)
  expect(waiting).toBeLessThan(10)
  expect(await deliver(refusing, copies)).toBe(0)
  expect(letters).toHaveLength(1)
})

test.each([
  ['an event without a business key', JSON.stringify({ id: randomUUID(), detail: { key: 1 } })],
  ['an event nested too deep', `{"version":"0","id":"${randomUUID()}","detail":${'['.repeat(100_000)}`],
  ['a message that is not JSON', 'no JSON', randomUUID()],
])('repeated deliveries of %s leave only one dead letter', async (_what, body, messageId?: string) => {
  for (let times = 0; times < 3; times += 1) {
    const message = { id: messageId ?? randomUUID(), body, sentAt: 1 }
    await refusing(toSqsEvent([message]), contextWith(30_000))
  }
  expect(letters).toHaveLength(1)
})

const setClockAhead = (milliseconds: number) =>
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + milliseconds })

test('a redriven event takes effect, even if the clock that refused it was five minutes ahead', async () => {
  const userId = await addUser()
  const copy = newCopy(adjustment(userId, { amount: '5', direction: 2 }))
  const credit = newCopy(adjustment(userId, { amount: '10' }))
  setClockAhead(300_000)
  await deliver(walletAdjusted, [copy])
  expect(letters).toEqual(['1'])
  await deliver(walletAdjusted, [credit])
  const redriven = { ...copy, sentAt: copy.sentAt + 10, refusals: '1' }
  expect(await deliver(walletAdjusted, [copy])).toBe(0)
  expect(await balanceOf(userId)).toBe('10')
  expect(await deliver(walletAdjusted, [redriven, copy])).toBe(0)
  expect(await deliver(walletAdjusted, [copy, redriven])).toBe(0)
  expect([await balanceOf(userId), letters]).toEqual(['5', ['1']])
})

test('each time a redriven event is refused, one dead letter is sent, with the number of refusals so far', async () => {
  const copy = newCopy({ key: randomUUID() })
  const sent: Copy[] = [copy]
  setClockAhead(300_000)
  for (const number of [1, 2, 3, 4]) {
    const last = { ...copy, sentAt: copy.sentAt + number, refusals: letters.at(-1) ?? '' }
    sent.push(last)
    expect(await deliver(refusing, [last])).toBe(0)
    for (const earlier of sent) expect(await deliver(refusing, [earlier])).toBe(0)
    expect(letters.at(-1)).toBe(String(number))
    expect(letters).toHaveLength(number)
  }
})

test('a refused event with an invalid or too low number of refusals leaves no further dead letter', async () => {
  const copy = newCopy({ key: randomUUID() })
  setClockAhead(300_000)
  await deliver(refusing, [copy])
  await deliver(refusing, [{ ...copy, refusals: '1' }])
  for (const refusals of ['', '0', '1', '-3', '2.5', '3e3', ' 3', '0x3', '99999999999999999999', 'NaN'])
    expect(await deliver(refusing, [{ ...copy, refusals }])).toBe(0)
  expect(letters).toEqual(['1', '2'])
})

test('a refused event that is repeated has one dead letter, even if the function’s clock is behind', async () => {
  const copy = newCopy({ key: randomUUID() })
  setClockAhead(-300_000)
  for (let times = 0; times < 3; times += 1) expect(await deliver(refusing, [copy])).toBe(0)
  expect(letters).toEqual(['1'])
})

test('a dead letter that could not be sent is sent after the time limit of the first attempt', async () => {
  const copy = newCopy({ key: randomUUID() })
  answers = [
    () => {
      throw new Error('the answer got lost')
    },
  ]
  expect(await deliver(refusing, [copy], 10_000)).toBe(1)
  expect(await deliver(refusing, [copy])).toBe(1)
  expect(letters).toEqual([])
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11_000 })
  expect(await deliver(refusing, [copy])).toBe(0)
  expect(await deliver(refusing, [copy])).toBe(0)
  expect(letters).toHaveLength(1)
})

test('an event is retried instead of refused if its function has too little time left', async () => {
  const copy = newCopy({ key: randomUUID() })
  expect(await deliver(refusing, [copy], 4_000)).toBe(1)
  expect(letters).toEqual([])
})

test('a refused event takes effect after a redrive of its dead letter, but not after a second delivery', async () => {
  const userId = await addUser()
  await deliver(walletAdjusted, [newCopy(adjustment(userId))])
  const copy = newCopy(adjustment(userId, { amount: '5', direction: 2 }))
  await deliver(walletAdjusted, [copy])
  expect(letters).toHaveLength(1)
  await deliver(walletAdjusted, [newCopy(adjustment(userId, { amount: '10' }))])
  expect(await deliver(walletAdjusted, [copy])).toBe(0)
  expect([await balanceOf(userId), letters.length]).toEqual(['11', 1])

  vi.setSystemTime(Date.now() + 10)
  expect(await deliver(walletAdjusted, [{ ...copy, sentAt: Date.now() }])).toBe(0)
  expect([await balanceOf(userId), letters.length]).toEqual(['6', 1])
})

describe('refused events with the same business key', () => {
  async function refuseThree() {
    const userId = await addUser()
    await deliver(walletAdjusted, [newCopy(adjustment(userId))])
    const detail = adjustment(userId, { amount: '5', direction: 2 })
    const copies = ['5', '6', '7'].map((amount) => newCopy({ ...detail, amount }))
    while ((await deliver(walletAdjusted, copies)) > 0);
    return { userId, detail, copies }
  }

  test('leave one dead letter each', async () => {
    await refuseThree()
    expect(letters).toHaveLength(3)
  })

  test('take no effect when they are delivered again', async () => {
    const { userId, copies } = await refuseThree()
    await deliver(walletAdjusted, [newCopy(adjustment(userId, { amount: '10' }))])
    expect(await deliver(walletAdjusted, copies)).toBe(0)
    expect([await balanceOf(userId), letters.length]).toEqual(['11', 3])
  })

  // A refused event does not occupy its business key: the sender may correct the event under the same key.
  test('let a corrected one take effect', async () => {
    const { userId, detail, copies } = await refuseThree()
    expect(await deliver(walletAdjusted, [newCopy({ ...detail, amount: '1' })])).toBe(0)
    expect([await balanceOf(userId), letters.length]).toEqual(['0', 3])
    expect(await deliver(walletAdjusted, copies)).toBe(0)
    expect([await balanceOf(userId), letters.length]).toEqual(['0', 3])
  })
})

const readRecord = (detailType: string, businessKey: string) =>
  readItem({ pk: `EVT#${detailType}#${businessKey}`, sk: 'EVT' }, { consistent: true })

test('the record of an event that took effect never expires, even if a later one is refused', async () => {
  const userId = await addUser()
  const detail = adjustment(userId, { amount: '5', direction: 2 })
  const ttl = async () => (await readRecord('wallet.adjusted', detail.adjustment_id))?.['ttl']
  const copy = newCopy(detail)
  await deliver(walletAdjusted, [copy])
  expect(Number(await ttl())).toBeGreaterThan((copy.sentAt + 14 * 86_400_000) / 1_000)
  await deliver(walletAdjusted, [newCopy(adjustment(userId, { amount: '10' }))])
  await deliver(walletAdjusted, [{ ...copy, refusals: '1' }])
  expect([await balanceOf(userId), await ttl()]).toEqual(['5', undefined])
  await deliver(walletAdjusted, [newCopy({ ...detail, amount: '6' })])
  expect([letters.length, await ttl()]).toEqual([2, undefined])
})

test('the record of a business key keeps only the newest 20 refusals, so that the item stays small', async () => {
  const key = randomUUID()
  const copies = Array.from({ length: 22 }, () => newCopy({ key }))
  setClockAhead(0)
  for (const copy of copies) {
    vi.setSystemTime(Date.now() + 1)
    await deliver(refusing, [copy])
  }
  const kept = (await readRecord('test.happened', key))?.['refused'] as object
  const newest = copies.slice(2).map(({ eventId }) => eventId)
  expect([letters.length, Object.keys(kept).sort()]).toEqual([22, newest.sort()])
})

test('an event that took effect leaves no dead letter, even if every further delivery fails', async () => {
  let fails = false
  const failing = intakeThat(async (_detail, record) => {
    if (fails) throw new TypeError('x is undefined')
    return applyOnce(record, [])
  })
  const copy = newCopy({ key: randomUUID() })
  expect(await deliver(failing, [copy])).toBe(0)
  fails = true
  expect(await deliver(failing, [{ ...copy, receives: maxReceives }])).toBe(0)
  expect(letters).toEqual([])
  // A second event with the same business key but other content takes no effect and leaves a dead letter.
  expect(
    await deliver(failing, [{ ...newCopy({ ...copy.detail, other: true }), receives: maxReceives }]),
  ).toBe(0)
  expect(letters).toHaveLength(1)
})

test('an event leaves a dead letter even if the table is down at every try', async () => {
  vi.spyOn(db, 'send').mockRejectedValue(Object.assign(new Error('down'), { name: 'InternalServerError' }))
  const failing = intakeThat((_detail, record) => applyOnce(record, []))
  const copy = newCopy({ key: randomUUID() })
  expect(await deliver(failing, [{ ...copy, receives: maxReceives - 1 }])).toBe(1)
  expect(await deliver(failing, [{ ...copy, receives: maxReceives }])).toBe(0)
  expect(letters).toEqual(['1'])
})

test('a refused event leaves one dead letter even if the dead-letter queue answers slowly', async () => {
  vi.restoreAllMocks()
  vi.resetModules()
  let accepted = 0
  const acceptSlowly: RequestListener = (request, response) => {
    accepted += 1
    void text(request).then(async (body) => {
      await wait(4_000)
      const { MessageBody } = JSON.parse(body) as { MessageBody: string }
      const MD5OfMessageBody = createHash('md5').update(MessageBody).digest('hex')
      response.end(JSON.stringify({ MessageId: randomUUID(), MD5OfMessageBody }))
    })
  }
  await serveHttp(acceptSlowly, async (url) => {
    // The table client reads its endpoint at import, so import it before the environment changes.
    await import('../../../shared/db/table.ts')
    vi.stubEnv('AWS_ENDPOINT_URL', url)
    vi.stubEnv('DEAD_LETTER_QUEUE_URL', `${url}/dead-letters`)
    const { intake: freshIntake } = await import('../../../shared/events/intake.ts')
    const handler = freshIntake({
      detailType: 'test.happened',
      detail: v.number(),
      key: String,
      apply: async () => ({ outcome: 'applied' }),
    })
    expect(await deliver(handler, [newCopy({})])).toBe(0)
  })
  expect(accepted).toBe(1)
})
