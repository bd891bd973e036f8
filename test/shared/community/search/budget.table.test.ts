import { BatchGetCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, it, vi } from 'vitest'
import * as v from 'valibot'
import { growTree } from '../../../../shared/community/growth/run.ts'
import { searchBudgetOf } from '../../../../shared/community/search/budget.ts'
import {
  exportMembers,
  listMembers,
  type MemberFilter,
  prefetchMembers,
} from '../../../../shared/community/search/find.ts'
import { consumedUnits, resetConsumedUnits } from '../../../../shared/db/consumed-units.ts'
import { readItem } from '../../../../shared/db/read.ts'
import { db, Integer } from '../../../../shared/db/table.ts'
import { newUserIds, silenceTreeQueue, smallCapacity } from '../../../support/community.ts'
import { join } from '../../../support/community-events.ts'

beforeEach(() => {
  silenceTreeQueue()
  vi.useFakeTimers({ toFake: ['Date'], now: Math.floor(Date.now() / 60_000) * 60_000 + 10_500 })
})
const search: MemberFilter = { type: 'COMMUNITY', keyword: 'ann' }
const list = async (userId: number, filter: MemberFilter = search) =>
  listMembers(await prefetchMembers(filter, userId), filter, { current: 1, size: 20 })

async function spentBy(userId: number): Promise<number> {
  const item = await readItem(searchBudgetOf(userId).key, { consistent: true })
  return v.parse(v.optional(v.object({ count: Integer })), item)?.count ?? 0
}

/** Registers a root with 30 referrals. With a small capacity, their list is a B-tree with several levels. */
async function newTree(capacity?: number): Promise<number> {
  const root = newUserIds()
  const about = (userId: number) => ({ userId, nickname: `Ann ${userId}`, email: `${userId}@example.com` })
  await join({ ...about(root), registeredAt: 1 })
  for (let i = 1; i <= 30; i += 1)
    await join({ ...about(root + i), referrerId: root, registeredAt: 1_767_225_600_000 + i })
  await growTree(root, Date.now() + 60_000, capacity)
  return root
}

/** Uses up a caller's search budget. */
async function spend(userId: number): Promise<void> {
  for (const units of [7_500, 7_500, 5_000]) await searchBudgetOf(userId).reserver(undefined)(units)
}

const refusal = { failure: 'too_many_requests', retryAfterSeconds: 50 }

it('fifty simultaneous searches by one caller stay within the budget of a minute', async () => {
  const caller = newUserIds()
  const reserve = () => searchBudgetOf(caller).reserver(undefined)(1_800)
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, reserve))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(11)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(refusal)
  expect(await spentBy(caller)).toBe(19_800)
})

it('the next minute has a search budget of its own', async () => {
  const caller = newUserIds()
  await spend(caller)
  const reserve = searchBudgetOf(caller).reserver(undefined)
  await expect(reserve(1_800)).rejects.toMatchObject(refusal)
  vi.setSystemTime(Date.now() + 50_000)
  await searchBudgetOf(caller).reserver(undefined)(1_800)
})

it('a search of too many units is refused, however much of the budget is left', () => {
  expect(() => searchBudgetOf(newUserIds()).reserver(undefined)(7_501)).toThrow('too large')
})

it('a member search reserves at least as many read units as it consumes', async () => {
  const root = await newTree(smallCapacity)
  for (const filter of [search, { ...search, keyword: `${root + 7}@example.com`, beginDate: '2026-01-01' }]) {
    const before = await spentBy(root)
    resetConsumedUnits()
    await list(root, filter)
    const { read_units: consumed } = consumedUnits()
    expect(consumed).toBeGreaterThan(3)
    expect((await spentBy(root)) - before).toBeGreaterThanOrEqual(consumed)
  }
})

it('a caller without search budget can list members; a search is refused before it reads', async () => {
  const root = await newTree(smallCapacity)
  await spend(root)
  const send = vi.spyOn(db, 'send')
  const prefetched = await prefetchMembers(search, root)
  send.mockClear()
  await expect(listMembers(prefetched, search, { current: 1, size: 20 })).rejects.toMatchObject(refusal)
  await expect(exportMembers(prefetched, search)).rejects.toMatchObject(refusal)
  expect(send.mock.calls.filter(([command]) => command instanceof BatchGetCommand)).toHaveLength(0)
  expect(await list(root, { type: 'COMMUNITY' })).toMatchObject({ total: 30 })
  expect(await list(root, { type: 'COMMUNITY', keyword: '' })).toMatchObject({ total: 30 })
})

// Addresses of members and failed searches do not count.
it('a caller can search for at most twenty unknown addresses an hour, even in parallel', async () => {
  const root = await newTree(20)
  const known = { ...search, keyword: `${root + 7}@example.com` }
  await spend(root)
  for (let i = 0; i < 20; i += 1) await expect(list(root, known)).rejects.toMatchObject(refusal)
  vi.setSystemTime(Date.now() + 60_000)
  for (let i = 0; i < 22; i += 1) expect(await list(root, known)).toMatchObject({ total: 1 })
  const guesses = Array.from({ length: 40 }, (_, i) => ({ ...search, keyword: `guess${i}@example.com` }))
  const outcomes = await Promise.allSettled(guesses.map(async (guess) => list(root, guess)))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  await expect(list(root, known)).rejects.toMatchObject({ failure: 'too_many_requests' })
  expect(await list(root)).toMatchObject({ total: 30 })
  expect(await list(root, { ...search, keyword: 'a***e@example.com' })).toMatchObject({ total: 0 })
  // A sliding hour: the end of the clock's hour forgets nothing.
  vi.setSystemTime(Date.now() + 58 * 60_000)
  await expect(list(root, known)).rejects.toMatchObject({ failure: 'too_many_requests' })
  vi.setSystemTime(Date.now() + 4 * 60_000)
  expect(await list(root, known)).toMatchObject({ total: 1 })
})
