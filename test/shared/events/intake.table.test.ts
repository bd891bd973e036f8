import { ChangeMessageVisibilityCommand, SQSClient } from '@aws-sdk/client-sqs'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { describe, expect, it, vi } from 'vitest'
import { db, tableName } from '../../../shared/db/table.ts'
import { maxReceives } from '../../../shared/events/delivery.ts'
import { intake } from '../../../shared/events/intake.ts'
import { RejectedEvent, rejectionReasons } from '../../../shared/events/rejected-event.ts'
import { log } from '../../../shared/log.ts'
import { contextWith, deliver, deliverBatch, deliverLast, refusedAs } from '../../support/deliver.ts'
import { toSqsEvent } from '../../support/sqs-event.ts'

const intakeThat = (apply: () => Promise<void>) =>
  intake({
    detailType: 'test.happened',
    detail: v.object({}),
    key: () => randomUUID(),
    rejections: Object.keys(rejectionReasons) as (keyof typeof rejectionReasons)[],
    async apply() {
      await apply()
      return { outcome: 'applied' as const }
    },
  })
it('the log line of a batch has the number of its events and the table units of all of them', async () => {
  const info = vi.spyOn(log, 'info').mockReturnValue(undefined)
  const write = async () => {
    await db.send(
      new PutCommand({ TableName: tableName(), Item: { pk: `TEST#${randomUUID()}`, sk: 'TEST' } }),
    )
  }
  await deliverBatch(intakeThat(write), [{}, {}, {}])
  expect(info).toHaveBeenLastCalledWith('batch', {
    messages: 3,
    retried: 0,
    duration_ms: expect.any(Number) as number,
    read_units: 0,
    write_units: 3,
  })
})

describe('events that are built to be expensive to process', () => {
  const anything = intake({
    detailType: 'test.happened',
    detail: v.object({ any: v.unknown() }),
    key: () => randomUUID(),
    apply: async () => ({ outcome: 'applied' }),
  })
  const nest = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))

  it.each([
    ['nested as deep as allowed', nest(20), 'done'],
    ['nested too deep', nest(40), 'refused'],
    ['of too many values', Array.from({ length: 60_000 }, () => 0), 'refused'],
  ])('an event with detail %s is applied or refused at its first delivery', async (_what, any, outcome) => {
    const refused = { refused: 'too_complex: the message is nested too deep or has too many values' }
    expect(await deliver(anything, { any })).toEqual(outcome === 'done' ? 'done' : refused)
  })

  it('an invalid event with thousands of unprintable map keys is refused with a short and printable reason', async () => {
    const rates = intake({
      detailType: 'test.happened',
      detail: v.object({ rates: v.record(v.pipe(v.string(), v.regex(/^[A-Z]+$/)), v.string()) }),
      key: () => randomUUID(),
      apply: async () => ({ outcome: 'applied' }),
    })
    const names = Array.from(
      { length: 5_000 },
      (_, index) => [`\u001b[31m\u009b\u202e${index}`, '1'] as const,
    )
    const { refused } = (await deliver(rates, { rates: Object.fromEntries(names) })) as { refused: string }
    expect(refused).toMatch(/^invalid_detail: rates\.[ -~]*$/)
    expect(refused.length).toBeLessThan(600)
  })
})

const codes = Object.entries(rejectionReasons)
const codesThatAreFinal = (when: string) =>
  codes.flatMap(([code, { final }]) => (final === when ? [code as keyof typeof rejectionReasons] : []))

describe('when a refusal is final', () => {
  const refusing = (code: keyof typeof rejectionReasons) =>
    intakeThat(async () => {
      throw new RejectedEvent(code)
    })

  it.each(codesThatAreFinal('at once'))('an event with the reason %s is refused at once', async (code) => {
    expect(await deliver(refusing(code), {})).toEqual(refusedAs(code))
  })

  it.each(codesThatAreFinal('after a minute'))(
    'an event with the reason %s is refused only after a minute',
    async (code) => {
      expect(await deliver(refusing(code), {})).toBe('retry')
      expect(await deliverLast(refusing(code), {})).toEqual(refusedAs(code))
    },
  )

  it('only faults of the service have another time', () => {
    expect(codesThatAreFinal('after all tries')).toEqual(['unavailable', 'internal'])
    expect(codes).toHaveLength(
      ['at once', 'after a minute', 'after all tries'].flatMap(codesThatAreFinal).length,
    )
  })
})

describe('an event that came too early', () => {
  const early = async () => {
    throw new RejectedEvent('insufficient_balance')
  }

  /** Delivers one message again and again, each time after the pause for which the function asks. */
  async function receiveUntilRefused(sentAt: number) {
    const firstReceivedAt = Date.now()
    const pauses: number[] = []
    const letters: number[] = []
    process.env['QUEUE_URL'] = 'http://queue.invalid/events'
    process.env['DEAD_LETTER_QUEUE_URL'] = 'http://queue.invalid/dead-letters'
    vi.spyOn(SQSClient.prototype, 'send').mockImplementation((command: unknown) => {
      if (command instanceof ChangeMessageVisibilityCommand)
        pauses.push(command.input.VisibilityTimeout ?? Number.NaN)
      else letters.push(Date.now() - firstReceivedAt)
    })
    const handler = intakeThat(early)
    vi.useFakeTimers({ toFake: ['Date'] })
    const message = { id: randomUUID(), sentAt, firstReceivedAt, body: JSON.stringify({ detail: {} }) }
    for (let receives = 1; receives <= maxReceives && letters.length === 0; receives += 1) {
      // Only the fake clock passes, so invocations need not really wait for events of other batches.
      vi.setSystemTime(firstReceivedAt + pauses.reduce((sum, pause) => sum + 1_000 * pause, 0))
      await handler(toSqsEvent([{ ...message, receives }]), contextWith(30_000))
    }
    vi.useRealTimers()
    return { pauses, letters }
  }

  it('is received every second at first, and for the last time when its minute is over', async () => {
    const { pauses, letters } = await receiveUntilRefused(Date.now())
    expect(new Set(pauses.slice(0, 20))).toEqual(new Set([1]))
    expect(letters).toEqual([60_000])
    expect(pauses.length + 1).toBeLessThan(maxReceives)
  }, 60_000)

  it('waits its minute even if its message lay in a backlog for an hour', async () => {
    expect((await receiveUntilRefused(Date.now() - 3_600_000)).letters).toEqual([60_000])
  }, 60_000)

  it('is applied in its first receive if what it needs comes a little later', async () => {
    let tries = 0
    const comesLate = intakeThat(async () => {
      tries += 1
      if (tries < 3) await early()
    })
    expect(await deliver(comesLate, {})).toBe('done')
  })

  it('does not wait within the function if it has waited its minute', async () => {
    let tries = 0
    const counting = intakeThat(async () => {
      tries += 1
      await early()
    })
    await deliverLast(counting, {})
    expect(tries).toBe(1)
  })
})

it.each([
  ['in order', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
  ['in reverse', [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
  ['mixed', [3, 7, 0, 9, 4, 1, 8, 6, 2, 5]],
])(
  'a batch of events of which each needs the one before, %s, is applied in one receive',
  async (_, order) => {
    let applied = 0
    const chain = intake({
      detailType: 'test.happened',
      detail: v.object({ place: v.number() }),
      key: () => randomUUID(),
      rejections: ['insufficient_balance'],
      async apply({ place }) {
        if (place > applied) throw new RejectedEvent('insufficient_balance')
        applied += 1
        return { outcome: 'applied' as const }
      },
    })
    const details = order.map((place) => ({ place }))
    expect(new Set(await deliverBatch(chain, details))).toEqual(new Set(['done']))
    expect(applied).toBe(10)
  },
)

it('a batch in which an event stays too early has it retried, and applies the others', async () => {
  const mixed = intake({
    detailType: 'test.happened',
    detail: v.object({ early: v.boolean() }),
    key: () => randomUUID(),
    async apply(detail) {
      if (detail.early) throw new RejectedEvent('insufficient_balance')
      return { outcome: 'applied' as const }
    },
  })
  const details = [true, false, true].map((each) => ({ early: each }))
  expect(await deliverBatch(mixed, details)).toEqual(['retry', 'done', 'retry'])
})
