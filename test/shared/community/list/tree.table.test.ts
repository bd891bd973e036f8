import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import {
  comparePositions,
  type ListedMember,
  maxLeafBytes,
  type MemberList,
  nodeCapacity,
  nodeKey,
  rootKey,
} from '../../../../shared/community/list/node.ts'
import { readRange } from '../../../../shared/community/list/range.ts'
import { CountedBTree } from '../../../../shared/community/list/tree.ts'
import { toSearchText } from '../../../../shared/community/search/keyword.ts'
import { readItem } from '../../../../shared/db/read.ts'
import { db } from '../../../../shared/db/table.ts'
import { transact } from '../../../../shared/db/write.ts'
import { newUserIds } from '../../../support/community.ts'

const newList = (): MemberList => ({ kind: 'COMMUNITY', ownerId: newUserIds() })

const member = (userId: number, joinedAt: number, nickname = `Member ${userId}`): ListedMember => ({
  userId,
  joinedAt,
  text: toSearchText({ nickname, email: `${userId}@example.com` }),
})

/** Changes a list in one transaction. */
async function change(
  list: MemberList,
  members: readonly ListedMember[],
  how: 'insert' | 'rename',
  capacity: number,
): Promise<number> {
  const tree = await CountedBTree.open(list, capacity)
  await tree.prefetch(members)
  for (const one of members) await tree[how](one)
  const writes = tree.writes()
  expect(tree.changedNodes).toBe(writes.length)
  if (writes.length > 0) await transact(writes)
  return writes.length
}

async function readWhole(list: MemberList): Promise<ListedMember[]> {
  const root = await readItem(rootKey(list), { consistent: true })
  return (await readRange(list, root, { skip: 0, take: Infinity, consistent: true })).entries
}

const newestFirst = (members: readonly ListedMember[]) =>
  [...members].sort((one, other) => comparePositions(other, one))

it('members are listed by their positions with their newest texts, whatever the order of changes', async () => {
  const instants = fc.array(fc.nat(20), { minLength: 1, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(instants, fc.array(fc.nat(100), { maxLength: 20 }), async (joined, renamed) => {
      const list = newList()
      const members = joined.map((joinedAt, i) => member(1 + i, joinedAt))
      for (let i = 0; i < members.length; i += 7) await change(list, members.slice(i, i + 7), 'insert', 4)
      for (const seed of renamed) {
        const at = seed % members.length
        const { userId, joinedAt } = members[at] as ListedMember
        members[at] = member(userId, joinedAt, `Renamed ${seed}`)
        await change(list, [members[at]], 'rename', 4)
      }
      expect(await readWhole(list)).toEqual(newestFirst(members))
    }),
    { numRuns: 20 },
  )
})

/** A nickname of 100 characters that hardly compresses, always the same for the same number. */
const longName = (number: number): string =>
  Array.from({ length: 100 }, (_, i) =>
    String.fromCodePoint(0x4e00 + ((number * 7_919 + i * i * 31) % 20_000)),
  ).join('')

/** Reads the sizes of a list's nodes other than the root. */
async function nodeBytes(list: MemberList): Promise<number[]> {
  const sizes: number[] = []
  for (let id = 0; ; id += 1) {
    const item = await readItem(nodeKey(list, id), { consistent: true })
    if (item === undefined) return sizes
    sizes.push((item['packed'] as Uint8Array).length)
  }
}

it('a leaf with long names is split before it is larger than 4 KB', async () => {
  const list = newList()
  const members = Array.from({ length: 120 }, (_, i) => member(1 + i, (i * 7) % 50, longName(i)))
  for (let i = 0; i < members.length; i += 40)
    await change(list, members.slice(i, i + 40), 'insert', nodeCapacity)
  const sizes = await nodeBytes(list)
  expect(sizes.length).toBeGreaterThan(5)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(maxLeafBytes)
  expect(await readWhole(list)).toEqual(newestFirst(members))
})

it('members who take long names afterwards split their leaf, too', async () => {
  const list = newList()
  const members = Array.from({ length: 60 }, (_, i) => member(1 + i, i))
  await change(list, members, 'insert', nodeCapacity)
  const renamed = members.map(({ userId, joinedAt }) => member(userId, joinedAt, longName(userId)))
  for (let i = 0; i < renamed.length; i += 10)
    await change(list, renamed.slice(i, i + 10), 'rename', nodeCapacity)
  expect(Math.max(...(await nodeBytes(list)))).toBeLessThanOrEqual(maxLeafBytes)
  expect(await readWhole(list)).toEqual(newestFirst(renamed))
})

it('what was prefetched is not read again when it changes', async () => {
  const list = newList()
  const members = Array.from({ length: 40 }, (_, i) => member(1 + i, i))
  for (let i = 0; i < members.length; i += 10) await change(list, members.slice(i, i + 10), 'insert', 4)
  const tree = await CountedBTree.open(list, 4)
  await tree.prefetch(members)
  const send = vi.spyOn(db, 'send')
  for (const { userId, joinedAt } of members) await tree.rename(member(userId, joinedAt, 'Renamed'))
  expect(send).not.toHaveBeenCalled()
})

it('a rename writes the root and the leaf, and no node between them', async () => {
  const list = newList()
  const members = Array.from({ length: 40 }, (_, i) => member(1 + i, i))
  for (let i = 0; i < members.length; i += 10) await change(list, members.slice(i, i + 10), 'insert', 4)
  expect(await change(list, [member(20, 19, 'Renamed')], 'rename', 4)).toBe(2)
})

it('a rename to the same text, or of a member whom the list lacks, writes nothing', async () => {
  const list = newList()
  const members = [member(1, 10), member(2, 20)]
  await change(list, members, 'insert', 4)
  expect(await change(list, members, 'rename', 4)).toBe(0)
  expect(await change(list, [member(3, 15)], 'rename', 4)).toBe(0)
})

it('of two workers who change the same list, the second one changes nothing', async () => {
  const list = newList()
  await change(
    list,
    [1, 2, 3, 4, 5, 6].map((id) => member(id, id)),
    'insert',
    4,
  )
  const slow = await CountedBTree.open(list, 4)
  await slow.rename(member(2, 2, 'Renamed'))
  await change(list, [member(7, 2)], 'insert', 4)
  await expect(transact(slow.writes())).rejects.toThrow('a condition did not hold')
  expect((await readWhole(list)).map(({ userId }) => userId)).toEqual([6, 5, 4, 3, 7, 2, 1])
})
