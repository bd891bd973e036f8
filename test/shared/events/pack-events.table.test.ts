import { marshall } from '@aws-sdk/util-dynamodb'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { queryFirst } from '../../../shared/db/read.ts'
import { type OldRecord, packEvents } from '../../../shared/events/pack-events.ts'
import { findContents, putBeginning, putRange, toPacked } from '../../../shared/events/packed-events.ts'
import { writeIf, writeItem } from '../../../shared/db/write.ts'
import { itemBytes, overheadBytes } from '../../support/item-bytes.ts'
import { useOwnTable } from '../../support/own-table.ts'
import { tamperCalls } from '../../support/tamper-calls.ts'

/** Records of events whose keys are in one slot. */
function recordsIn(slot: string, count: number): OldRecord[] {
  const records: OldRecord[] = []
  for (let number = 0; records.length < count; number += 1) {
    const record = {
      pk: `EVT#test.packed#${slot}-${number}`,
      sk: 'EVT',
      digest: `digest${number}`,
      applied_at: number,
    }
    if (toPacked(record.pk, record.digest).slot === slot) records.push({ ...record, ttl: undefined })
  }
  return records
}

const rangesOf = (slot: string) =>
  queryFirst(
    { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': `SEEN#${slot}` } },
    100,
  )

const contentOf = ({ pk, digest }: OldRecord): string => toPacked(pk, digest).content
const find = ({ pk, digest }: OldRecord): Promise<string[]> => findContents(toPacked(pk, digest))

let dropTable: () => Promise<void>
beforeAll(async () => {
  dropTable = await useOwnTable()
})
afterAll(() => dropTable())

describe('packed events', () => {
  it('every event is found, and no other, while several processes pack and ranges are split', async () => {
    const records = recordsIn('a7', 400)
    const early = records.slice(0, 50)
    await packEvents(early)
    const packing = { isDone: false }
    const searching = (async () => {
      for (let i = 0; !packing.isDone; i += 1) {
        const record = early[i % early.length] as OldRecord
        expect(await find(record)).toEqual([contentOf(record)])
      }
    })()
    // Each process has half of the events in common with the next one.
    await Promise.all([0, 100, 200].map((start) => packEvents(records.slice(start, start + 200))))
    packing.isDone = true
    await searching
    const ranges = await rangesOf('a7')
    expect(ranges.length).toBeGreaterThan(1)
    const entries = ranges.flatMap((range) => v.parse(v.instance(Uint8Array), range['entries']).length / 12)
    expect(entries.reduce((sum, count) => sum + count)).toBe(400)
    for (const record of records.filter((_, i) => i % 15 === 0))
      expect(await find(record)).toEqual([contentOf(record)])
    for (const { pk, digest } of early)
      expect(await find({ pk: `${pk} 2`, sk: 'EVT', digest, applied_at: 1, ttl: undefined })).toEqual([])
    const bytes = ranges.map((range) => itemBytes(marshall(range)))
    // An item of up to 4 KB is read for half a unit.
    expect(Math.max(...bytes)).toBeLessThanOrEqual(4_096)
    expect(bytes.reduce((sum, each) => sum + each + overheadBytes, 0) / 400).toBeLessThan(14)
  })

  it('a search that finds only the other half of a range that is being split searches again', async () => {
    const [record, other] = recordsIn('b8', 2) as [OldRecord, OldRecord]
    await writeIf(putBeginning())
    expect(await find(other)).toEqual([])
    const { fingerprint, content } = toPacked(record.pk, record.digest)
    const half = { slot: 'b8', appliedAt: 0, version: 0, entries: '' }
    await writeItem(putRange({ ...half, from: '0', until: fingerprint }))
    const second = { ...half, from: fingerprint, until: undefined, entries: `${fingerprint}${content}` }
    const { restore } = tamperCalls(async ({ perform }) => {
      restore()
      const answer = await perform()
      await writeItem(putRange(second))
      return answer
    })
    expect(await find(record)).toEqual([content])
  })
})
