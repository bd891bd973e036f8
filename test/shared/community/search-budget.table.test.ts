import { BatchGetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import * as v from 'valibot'
import {
  exportMembers,
  listMembers,
  type MemberFilter,
  prefetchMembers,
} from '../../../shared/community/find-members.ts'
import { propagateToAncestors } from '../../../shared/community/propagate-to-ancestors.ts'
import { standardLimits } from '../../../shared/community/search-index/append-members.ts'
import { searchBudgetKey, searchReservations } from '../../../shared/community/search-budget.ts'
import { consumedUnits, resetConsumedUnits } from '../../../shared/db/consumed-units.ts'
import { readItem } from '../../../shared/db/read.ts'
import { db, Integer } from '../../../shared/db/table.ts'
import { Failure } from '../../../shared/errors.ts'
import { newUserIds, propagateInSmallNodes, silenceTreeQueue } from '../../support/community.ts'
import { join } from '../../support/community-events.ts'

beforeEach(silenceTreeQueue)
afterEach(() => vi.restoreAllMocks())

const search: MemberFilter = { type: 'COMMUNITY', keyword: 'ann' }
const list = async (userId: number, filter: MemberFilter = search) =>
  listMembers(await prefetchMembers(filter, userId), filter, { current: 1, size: 20 })

async function spentBy(userId: number): Promise<number> {
  const item = await readItem(searchBudgetKey(userId), { consistent: true })
  const { spent } = v.parse(v.object({ spent: v.array(v.object({ units: Integer })) }), item)
  return spent.reduce((sum, { units }) => sum + units, 0)
}

/** Registers a root with so many referrals that its list has several levels of small nodes. */
async function newTree(propagate = propagateInSmallNodes): Promise<number> {
  const root = newUserIds()
  const about = (userId: number) => ({ userId, nickname: `Ann ${userId}`, email: `${userId}@example.com` })
  await join({ ...about(root), registeredAt: 1 })
  for (let i = 1; i <= 30; i += 1)
    await join({ ...about(root + i), referrerId: root, registeredAt: 1_767_225_600_000 + i })
  await propagate(root)
  return root
}

it('fifty simultaneous searches of a caller never reserve more than the budget together', async () => {
  const caller = newUserIds()
  const send = vi.spyOn(db, 'send')
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, () => searchReservations(caller, undefined)(450)),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(11)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ failure: 'too_many_requests' })
  // Functions that search are granted these two calls on the item.
  const isGranted = (call: unknown) => call instanceof BatchGetCommand || call instanceof PutCommand
  expect(send.mock.calls.every(([call]) => isGranted(call))).toBe(true)
  expect(await spentBy(caller)).toBe(4_950)
})

const withoutIndex = (rootId: number) =>
  propagateToAncestors(rootId, Date.now() + 60_000, 'all', {
    capacity: { entries: 4, children: 4 },
    limits: standardLimits,
  })

it.each([
  { kind: 'with a search index', propagate: propagateInSmallNodes, minUnits: 5 },
  { kind: 'without one', propagate: withoutIndex, minUnits: 9 },
])(
  'a search of a list $kind reserves at least the read units that it consumes',
  async ({ propagate, minUnits }) => {
    const root = await newTree(propagate)
    for (const filter of [
      search,
      { ...search, keyword: `${root + 7}@example.com`, beginDate: '2026-01-01' },
    ]) {
      const before = await spentBy(root).catch(() => 0)
      resetConsumedUnits()
      await list(root, filter)
      const { read_units: consumed } = consumedUnits()
      expect(consumed).toBeGreaterThan(minUnits)
      expect((await spentBy(root)) - before).toBeGreaterThanOrEqual(consumed)
    }
  },
)

it('a search without room in the budget is refused before it reads, and lists without keyword still answer', async () => {
  const root = await newTree()
  await searchReservations(root, undefined)(5_000)
  const send = vi.spyOn(db, 'send')
  const prefetched = await prefetchMembers(search, root)
  send.mockClear()
  for (const refused of [
    listMembers(prefetched, search, { current: 1, size: 20 }),
    exportMembers(prefetched, search),
  ]) {
    const failure = await refused.then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(Failure)
    expect(failure).toMatchObject({ failure: 'too_many_requests' })
    expect((failure as Failure).retryAfterSeconds).toBeGreaterThanOrEqual(59)
  }
  expect(send.mock.calls.filter(([command]) => command instanceof BatchGetCommand)).toHaveLength(0)
  expect(await list(root, { type: 'COMMUNITY' })).toMatchObject({ total: 30 })
  expect(await list(root, { type: 'COMMUNITY', keyword: '' })).toMatchObject({ total: 30 })
})
