import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { describe, expect, it, vi } from 'vitest'
import { db, tableName } from '../../../shared/db/table.ts'
import { intake } from '../../../shared/events/intake.ts'
import { log } from '../../../shared/log.ts'
import { deliver, deliverBatch } from '../../support/deliver.ts'

const intakeThat = (apply: () => Promise<void>) =>
  intake({
    detailType: 'test.happened',
    detail: v.object({}),
    key: () => 'key',
    async apply() {
      await apply()
      return 'applied'
    },
  })
it('the log line of a batch has the number of its events and the total of the table units that they consumed', async () => {
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
    apply: async () => 'applied',
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
      apply: async () => 'applied',
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
