import { BatchGetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, expect, it, vi } from 'vitest'
import {
  exportMembers,
  listMembers,
  type MemberFilter,
  prefetchMembers,
} from '../../../../shared/community/search/find.ts'
import { db, type Item, type Key, tableName } from '../../../../shared/db/table.ts'
import { type FindItem, largeList, listOwnerId } from '../../../support/large-list/large-list.ts'

afterEach(() => vi.restoreAllMocks())

/** Read units of an eventually consistent read: half a unit for each 4 KB (AWS: read consistency). */
const unitsOf = ({ packed }: Item): number =>
  Math.max(1, Math.ceil((packed instanceof Uint8Array ? packed.length : 0) / 4_096)) / 2

/**
 * Answers the table client's reads with items from `find`, without DynamoDB Local. Counts the calls, the
 * rounds (calls that wait at the same time are one round), the read units, and the units that the caller's
 * budget reserves.
 */
function serve(find: FindItem) {
  const cost = { calls: 0, rounds: 0, readUnits: 0, reserved: 0 }
  let pending = 0
  const send = async (command: unknown): Promise<object> => {
    cost.calls += 1
    if (pending === 0) cost.rounds += 1
    pending += 1
    await new Promise(setImmediate)
    pending -= 1
    if (command instanceof UpdateCommand) {
      cost.reserved += Number(command.input.ExpressionAttributeValues?.[':units'])
      return {}
    }
    if (!(command instanceof BatchGetCommand)) throw new Error('a search of members makes no such call')
    const keys = (command.input.RequestItems?.[tableName()]?.Keys ?? []) as Key[]
    const items = keys.flatMap((key): Item[] => [find(key)].filter((item) => item !== undefined))
    cost.readUnits += items.reduce((sum, item) => sum + unitsOf(item), 0)
    return { Responses: { [tableName()]: items } }
  }
  vi.spyOn(db, 'send').mockImplementation(send as never)
  return cost
}

const search = async (filter: MemberFilter, current = 1) =>
  listMembers(await prefetchMembers(filter, listOwnerId), filter, { current, size: 20 })

it('a search reads every leaf of its list once, on any page, in at most four rounds', async () => {
  for (const [size, units] of [
    [199, 20],
    [10_000, 55],
  ] as const) {
    const cost = serve(largeList(size))
    for (const [keyword, current] of [
      ['example.com', 1],
      ['example.com', Math.floor(size / 50)],
      ['yuki', 1],
      ['nobody', 1],
    ] as const) {
      Object.assign(cost, { calls: 0, rounds: 0, readUnits: 0, reserved: 0 })
      const { records, total } = await search({ type: 'COMMUNITY', keyword }, current)
      expect(records).toHaveLength(Math.min(20, total))
      expect(total).toBeLessThan(size)
      expect(cost.rounds).toBeLessThanOrEqual(4)
      expect(cost.readUnits).toBeLessThan(units)
      // 25 units for the page, and half a unit for each leaf.
      if (size > 199) expect(cost.reserved).toBeGreaterThanOrEqual(25 + Math.floor(cost.readUnits / 2))
    }
  }
})

it('an export has all members of a list up to the maximum number, newest first', async () => {
  const size = 10_000
  serve(largeList(size))
  const filter: MemberFilter = { type: 'COMMUNITY' }
  const start = await prefetchMembers(filter, listOwnerId)
  const { total, records } = await exportMembers(start, filter)
  expect([total, records.length]).toEqual([size, size])
  const { records: newest } = await listMembers(start, filter, { current: 1, size: 20 })
  expect(records.slice(0, 20)).toEqual(newest)
})
