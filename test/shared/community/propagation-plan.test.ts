import { describe, expect, it } from 'vitest'
import type { Profile } from '../../../shared/community/member.ts'
import {
  type BatchEntry,
  packTransactions,
  planPropagation,
  selectBatch,
  type WriteGroup,
} from '../../../shared/community/propagation-plan.ts'
import type { JournalEntry } from '../../../shared/community/tree-journal.ts'
import type { Write } from '../../../shared/db/write.ts'
import { Big, zero } from '../../../shared/money.ts'

const joinEntry = (userId: number): JournalEntry => ({
  sk: `J#${userId}`,
  userId,
  joined: true,
  renamed: false,
  amount: zero,
})
const purchaseEntry = (userId: number, amount: string): JournalEntry => ({
  sk: `J#${userId}-${amount}`,
  userId,
  joined: false,
  renamed: false,
  amount: new Big(amount),
})

describe('selectBatch', () => {
  it('a propagation batch takes all journal entries when they have at most 12 new members', () => {
    const entries = [
      ...Array.from({ length: 12 }, (_, i) => joinEntry(i + 1)),
      ...Array.from({ length: 38 }, (_, i) => purchaseEntry(i + 1, '1')),
    ]
    expect(selectBatch(entries)).toEqual(entries)
  })

  it('a propagation batch ends before the 13th new member, and skips none of the entries before', () => {
    const first = [purchaseEntry(1, '1'), ...Array.from({ length: 12 }, (_, i) => joinEntry(i + 1))]
    expect(selectBatch([...first, joinEntry(13), purchaseEntry(1, '2')])).toEqual(first)
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
    const member = { userId: 3, joinedAt: 30, chunk: 7, text }
    expect(planPropagation([joined(3, [2, 1])], chunks)).toEqual([
      {
        list: { kind: 'COMMUNITY', ownerId: 2 },
        newMembers: [member],
        delta: { directs: 1, members: 1, performance: zero },
      },
      { list: { kind: 'DIRECT', ownerId: 2 }, newMembers: [member] },
      {
        list: { kind: 'COMMUNITY', ownerId: 1 },
        newMembers: [member],
        delta: { directs: 0, members: 1, performance: zero },
      },
    ])
  })

  it('all entries of a propagation batch are added up to one update of each list', () => {
    const batch = [joined(3, [2, 1]), bought(3, '0.1', [2, 1]), joined(4, [3, 2, 1]), bought(2, '5', [1])]
    const updates = planPropagation(batch, chunks)
    const names = updates.map(({ list }) => `${list.kind} ${list.ownerId}`)
    expect(names).toEqual(['COMMUNITY 2', 'DIRECT 2', 'COMMUNITY 1', 'COMMUNITY 3', 'DIRECT 3'])
    expect(
      updates.map(({ delta }) => delta && { ...delta, performance: delta.performance.toFixed() }),
    ).toEqual([
      { directs: 1, members: 2, performance: '0.1' },
      undefined,
      { directs: 0, members: 2, performance: '5.1' },
      { directs: 1, members: 1, performance: '0' },
      undefined,
    ])
    expect(updates.map(({ newMembers }) => newMembers.map(({ userId }) => userId))).toEqual([
      [3, 4],
      [3],
      [3, 4],
      [4],
      [4],
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

describe('packTransactions', () => {
  const put = (...names: string[]): Write[] => names.map((pk) => ({ Put: { Item: { pk, sk: 'A' } } }))
  const group = (done: number, writes: Write[]): WriteGroup => ({
    writes,
    progress: { batch: ['J'], done, due: [] },
  })
  const pack = async (groups: WriteGroup[], maxWrites: number) => {
    const transactions: { items: string; done: number }[] = []
    for await (const { writes, progress } of packTransactions(groups, maxWrites)) {
      const names = writes.map(({ Put, Delete }) => String(Put?.Item?.['pk'] ?? Delete?.Key?.['pk']))
      transactions.push({ items: names.join(''), done: progress.done })
    }
    return transactions
  }

  it('packTransactions fills each transaction up to the limit and gives it the progress of its last group', async () => {
    const groups = [group(0, put('a')), group(1, put('b', 'c')), group(2, put('d')), group(3, put('e', 'f'))]
    expect(await pack(groups, 4)).toEqual([
      { items: 'abcd', done: 2 },
      { items: 'ef', done: 3 },
    ])
  })

  it('packTransactions never splits a group of writes over two transactions', async () => {
    expect(await pack([group(1, put('a', 'b')), group(2, put('c', 'd', 'e'))], 4)).toEqual([
      { items: 'ab', done: 1 },
      { items: 'cde', done: 2 },
    ])
  })

  it('packTransactions puts two writes of one item into different transactions', async () => {
    const deletion: Write = { Delete: { Key: { pk: 'a', sk: 'A' } } }
    expect(await pack([group(1, put('a', 'b')), group(2, [deletion]), group(3, put('c'))], 10)).toEqual([
      { items: 'ab', done: 1 },
      { items: 'ac', done: 3 },
    ])
  })

  it('packTransactions keeps the progress of a group without writes', async () => {
    expect(await pack([group(0, []), group(1, put('a')), group(2, [])], 10)).toEqual([
      { items: 'a', done: 2 },
    ])
  })

  it('packTransactions reads the next group only after the previous transaction has been consumed', async () => {
    const asked: number[] = []
    function* groups() {
      for (const done of [1, 2, 3]) {
        asked.push(done)
        yield group(done, put(`${done}`))
      }
    }
    const transactions = packTransactions(groups(), 1)
    await transactions.next()
    expect(asked).toEqual([1, 2])
  })
})
