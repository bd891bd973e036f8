import { BatchGetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, expect, it, vi } from 'vitest'
import {
  exportMembers,
  listMembers,
  type MemberFilter,
  prefetchMembers,
} from '../../../shared/community/find-members.ts'
import { searchBudget } from '../../../shared/community/search-budget.ts'
import { db, type Item, type Key, tableName } from '../../../shared/db/table.ts'
import { type FindItem, largeList, listOwnerId } from '../../bench/support/large-list.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** Read units of an eventually consistent read: half a unit for each 4 KB (AWS: read consistency). */
const unitsOf = ({ packed }: Item): number =>
  Math.max(1, Math.ceil((packed instanceof Uint8Array ? packed.length : 0) / 4_096)) / 2

/**
 * Lets the table's client read the items of a list, which nobody could write into DynamoDB Local while a test
 * waits. Counts the calls, the rounds of calls that wait for one another, and the read units.
 */
function serve(find: FindItem, onCall: () => void = () => undefined) {
  const cost = { calls: 0, rounds: 0, readUnits: 0, reserved: 0 }
  let pending = 0
  const send = async (command: unknown): Promise<object> => {
    onCall()
    cost.calls += 1
    if (pending === 0) cost.rounds += 1
    pending += 1
    await new Promise(setImmediate)
    pending -= 1
    if (command instanceof PutCommand) {
      const { spent } = command.input.Item as { spent: { units: number }[] }
      cost.reserved += spent.reduce((sum, { units }) => sum + units, 0)
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

it('a search of an index takes four rounds of calls, on any page, and half a unit for each segment', async () => {
  const size = 10_000
  const cost = serve(largeList(size, undefined, { isIndexed: true }))
  for (const [keyword, current] of [
    ['example.com', 1],
    ['example.com', 200],
    ['yuki', 8],
    ['nobody', 1],
  ] as const) {
    Object.assign(cost, { calls: 0, rounds: 0, readUnits: 0, reserved: 0 })
    const { records, total } = await search({ type: 'COMMUNITY', keyword }, current)
    expect(records).toHaveLength(keyword === 'nobody' ? 0 : 20)
    expect(total).toBeLessThan(size)
    expect(cost.rounds).toBeLessThanOrEqual(4)
    expect(cost.readUnits).toBeLessThan(60)
    expect(cost.reserved).toBeGreaterThanOrEqual(cost.readUnits)
  }
})

it('a search without an index takes nine rounds of calls and one for each 800 chunks: eleven for 300,000 members', async () => {
  // The clock stands still, so that the time limit does not depend on this machine.
  vi.useFakeTimers({ toFake: ['Date'] })
  const people = [
    { nickname: 'Ann', email: 'ann@example.com' },
    { nickname: 'Bob', email: 'bob@example.com' },
  ] as const
  const cost = serve(largeList(300_000, (i) => people[i % 2 === 0 ? 0 : 1]))
  const page = await search({ type: 'COMMUNITY', keyword: 'ann' })
  expect(page.total).toBe(150_000)
  expect(cost).toMatchObject({ calls: 29, rounds: 11 })
  expect(cost.readUnits).toBeGreaterThan(900)
  expect(cost.reserved).toBeGreaterThanOrEqual(cost.readUnits)
  // A budget has room for a search of a million members.
  expect(cost.reserved / 300_000).toBeLessThan(searchBudget.readUnits / 1_000_000)
})

it('a search that takes too long says so before it reads texts, however long the list took', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const find = largeList(1_000)
  const texts: string[] = []
  serve(
    (key) => {
      if (key.pk.startsWith('TEXT#')) texts.push(key.pk)
      return find(key)
    },
    () => vi.setSystemTime(Date.now() + 700),
  )
  await expect(search({ type: 'COMMUNITY', keyword: 'ann' })).rejects.toMatchObject({
    failure: 'unavailable',
  })
  expect(texts).toEqual([])
})

it('an export says that it is cut when an answer has no room for all members, although the cap has', async () => {
  const size = 10_000
  // A member with the longest names that are allowed is a kilobyte of JSON inside JSON.
  serve(largeList(size, (i) => ({ nickname: '"'.repeat(100), email: `${i}@${'x'.repeat(240)}.example` })))
  const filter: MemberFilter = { type: 'COMMUNITY' }
  const start = await prefetchMembers(filter, listOwnerId)
  const { records, ...rest } = await exportMembers(start, filter)
  expect(rest).toEqual({ total: size, cap: size, truncated: true })
  expect(records.length).toBeGreaterThan(5_000)
  expect(records.length).toBeLessThan(size)
  const { records: newest } = await listMembers(start, filter, { current: 1, size: 20 })
  expect(records.slice(0, 20)).toEqual(newest)
})
