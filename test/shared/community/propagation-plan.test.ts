import { describe, expect, it } from 'vitest'
import type { Profile } from '../../../shared/community/member.ts'
import {
  type AncestorUpdate,
  areDistinct,
  type BatchEntry,
  type NewMember,
  packGroups,
  planPropagation,
  selectBatch,
  sortBatch,
  splitUpdates,
} from '../../../shared/community/propagation-plan.ts'
import type { JournalEntry } from '../../../shared/community/tree-journal.ts'
import type { Write } from '../../../shared/db/write.ts'
import { Big, zero } from '../../../shared/money.ts'

const joinEntry = (userId: number): JournalEntry => ({
  shard: 0,
  sk: `J#${userId}`,
  userId,
  joined: true,
  renamed: false,
  amount: zero,
})
const purchaseEntry = (userId: number, amount: string): JournalEntry => ({
  shard: 0,
  sk: `J#${userId}-${amount}`,
  userId,
  joined: false,
  renamed: false,
  amount: new Big(amount),
})

describe('selectBatch', () => {
  const joins = (count: number) => Array.from({ length: count }, (_, i) => joinEntry(i + 1))
  const renames = (count: number) => joins(count).map((entry) => ({ ...entry, joined: false, renamed: true }))

  it('a propagation batch takes all journal entries when they have at most 500 new members and 20 new names', () => {
    const entries = [
      ...joins(500),
      ...renames(20),
      ...Array.from({ length: 1_000 }, (_, i) => purchaseEntry(i + 1, '1')),
    ]
    expect(selectBatch(entries)).toEqual(entries)
  })

  it('a propagation batch leaves the 501st new member and the 21st new name for the next one', () => {
    const entries = [...joins(501), ...renames(21), purchaseEntry(1, '2')]
    expect(selectBatch(entries)).toEqual([...joins(500), ...renames(20), purchaseEntry(1, '2')])
  })

  it('a propagation batch is empty for an empty journal', () => {
    expect(selectBatch([])).toEqual([])
  })
})

describe('planPropagation', () => {
  const profile = (userId: number, joinedAt: number) =>
    ({ userId, joinedAt, nickname: `Member ${userId}`, email: `m${userId}@b` }) as Profile
  const joined = (userId: number, ancestors: number[]): BatchEntry => ({
    entry: joinEntry(userId),
    profile: profile(userId, userId * 10),
    ancestors,
  })
  const bought = (userId: number, amount: string, ancestors: number[]): BatchEntry => ({
    entry: purchaseEntry(userId, amount),
    profile: profile(userId, userId * 10),
    ancestors,
  })
  const chunks = new Map([
    [3, 7],
    [4, 8],
  ])

  it('a new member is added to both lists of the referrer and to the COMMUNITY list of every other ancestor', () => {
    const text = { nickname: 'member 3', maskedEmail: 'm***@b' }
    const newMembers = [{ userId: 3, joinedAt: 30, chunk: 7, text }]
    expect(planPropagation([joined(3, [2, 1])], chunks)).toEqual([
      {
        ownerId: 2,
        done: 0,
        performance: zero,
        lists: [
          { list: { kind: 'COMMUNITY', ownerId: 2 }, newMembers },
          { list: { kind: 'DIRECT', ownerId: 2 }, newMembers },
        ],
      },
      {
        ownerId: 1,
        done: 0,
        performance: zero,
        lists: [{ list: { kind: 'COMMUNITY', ownerId: 1 }, newMembers }],
      },
    ])
  })

  it('all entries of a propagation batch are added up to one update of each ancestor', () => {
    const batch = [joined(3, [2, 1]), bought(3, '0.1', [2, 1]), joined(4, [3, 2, 1]), bought(2, '5', [1])]
    const updates = planPropagation(batch, chunks).map(({ ownerId, performance, lists }) => [
      ownerId,
      performance.toFixed(),
      ...lists.map(({ newMembers }) => newMembers.map(({ userId }) => userId)),
    ])
    expect(updates).toEqual([
      [2, '0.1', [3, 4], [3]],
      [1, '5.1', [3, 4]],
      [3, '0', [4], [4]],
    ])
  })

  it('planning a batch again gives the same updates in the same order, so that an interrupted batch can continue', () => {
    const batch = [joined(4, [3, 2, 1]), bought(4, '2', [3, 2, 1]), joined(3, [2, 1])]
    expect(planPropagation(batch, chunks)).toEqual(planPropagation(batch, chunks))
  })

  it('a purchase by the root of a tree, who has no ancestors, plans no updates', () => {
    expect(planPropagation([bought(1, '1', [])], chunks)).toEqual([])
  })

  it('planPropagation throws for a new member without a search chunk', () => {
    expect(() => planPropagation([joined(9, [1])], chunks)).toThrow('search chunk')
  })
})

describe('sortBatch', () => {
  it('a batch is sorted by when its members joined, whatever the order of their journal entries', () => {
    const at = (userId: number, joinedAt: number): BatchEntry => ({
      entry: joinEntry(userId),
      profile: { userId, joinedAt } as Profile,
      ancestors: [],
    })
    const ids = sortBatch([at(3, 20), at(1, 30), at(2, 20)]).map(({ profile }) => profile.userId)
    expect(ids).toEqual([2, 3, 1])
  })
})

describe('splitUpdates', () => {
  const update = (ownerId: number, members: number): AncestorUpdate => ({
    ownerId,
    done: 0,
    performance: zero,
    lists: [{ list: { kind: 'COMMUNITY', ownerId }, newMembers: Array<NewMember>(members) }],
  })
  const ownersOf = (parts: AncestorUpdate[][]) => parts.map((part) => part.map(({ ownerId }) => ownerId))

  it('updates stay in their order, and each part has at most 10,000 of them and their members', () => {
    const updates = [update(1, 4_999), update(2, 4_999), update(3, 0), update(4, 9_998), update(5, 0)]
    expect(ownersOf(splitUpdates(updates))).toEqual([[1, 2], [3, 4], [5]])
  })

  it('an update with more members than a part may have is a part of its own', () => {
    expect(ownersOf(splitUpdates([update(1, 0), update(2, 20_000), update(3, 0)]))).toEqual([[1], [2], [3]])
  })
})

describe('packGroups', () => {
  const put = (...names: string[]): Write[] => names.map((pk) => ({ Put: { Item: { pk, sk: 'A' } } }))
  const pack = (groups: Write[][], maxWrites: number) =>
    packGroups(groups, maxWrites).map((writes) => writes.map(({ Put }) => String(Put?.Item?.['pk'])).join(''))

  it('packGroups fills each transaction up to the limit', () => {
    expect(pack([put('a'), put('b', 'c'), put('d'), put('e', 'f')], 4)).toEqual(['abcd', 'ef'])
  })

  it('packGroups never splits a group of writes over two transactions', () => {
    expect(pack([put('a', 'b'), put('c', 'd', 'e')], 4)).toEqual(['ab', 'cde'])
  })

  it('packGroups leaves the groups that it is given as they are', () => {
    const groups = [put('a'), put('b')]
    packGroups(groups, 4)
    expect(groups).toEqual([put('a'), put('b')])
  })
})

describe('areDistinct', () => {
  const item = { pk: 'a', sk: 'A' }

  it('two writes of one item are not distinct, whatever they do', () => {
    expect(areDistinct([{ Put: { Item: item } }, { Delete: { Key: { ...item, sk: 'B' } } }])).toBe(true)
    expect(areDistinct([{ Put: { Item: item } }, { Delete: { Key: item } }])).toBe(false)
  })
})
