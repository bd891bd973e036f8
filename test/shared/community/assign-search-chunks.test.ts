import { randomInt } from 'node:crypto'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { assignSearchChunks, openChunkKey } from '../../../shared/community/assign-search-chunks.ts'
import { packRoot, rootKey } from '../../../shared/community/counted-b-tree/node.ts'
import { toSearchText } from '../../../shared/community/keyword.ts'
import { newProfileItem, toProfile } from '../../../shared/community/member.ts'
import { packTexts, unpackTexts } from '../../../shared/community/search-chunks.ts'
import { areDistinct } from '../../../shared/community/propagation-plan.ts'
import { keyText } from '../../../shared/db/read.ts'
import { asStored, Integer, type Item, type Key } from '../../../shared/db/table.ts'
import { maxTransactionWrites, type Write } from '../../../shared/db/write.ts'
import { inventPerson } from '../../bench/support/invent-person.ts'

/**
 * A table in memory that takes the puts of an assignment in order, each after the one it was prepared
 * from.
 */
function memoryTable(items: readonly (Item & Key)[] = []) {
  const stored = new Map(items.map((item) => [keyText(item), asStored(item)]))
  const versionOf = (item: Item | undefined) =>
    item?.['version'] === undefined ? 0 : v.parse(Integer, item['version'])
  return {
    read: async (key: Key) => stored.get(keyText(key)),
    write: (writes: readonly Write[]) => {
      for (const { Put } of writes) {
        if (Put?.Item === undefined) continue
        const item = asStored(Put.Item as Item & Key)
        const before = versionOf(stored.get(keyText(item)))
        if (item['version'] !== undefined)
          expect(before).toBe(Put.ExpressionAttributeValues?.[':version'] ?? 0)
        stored.set(keyText(item), item)
      }
    },
    /** The packed chunks of a tree by number. */
    chunks: (rootId: number) =>
      new Map(
        [...stored.values()].flatMap((item) => {
          const number = new RegExp(`^TEXT#${rootId}#(\\d+)$`).exec(item.pk)?.[1]
          return number === undefined ? [] : [[Number(number), item['packed'] as Uint8Array] as const]
        }),
      ),
  }
}

const newMember = (userId: number, upline: number[], person: { nickname: string; email: string }) => {
  const place = { userId, joinedAt: 0, rootId: upline.at(-1) ?? 0, depth: upline.length, upline }
  return { profile: toProfile(asStored(newProfileItem({ ...place, ...person }))), ancestors: upline }
}

/** Assigns chunks to members of one downline in batches, as the worker does. Returns the chunks by number. */
async function assignAll(people: readonly { nickname: string; email: string }[], batchSize: number) {
  const root = 1
  const table = memoryTable()
  const chunkOf = new Map<number, number | undefined>()
  let chunkCount = 0
  for (let start = 0; start < people.length; start += batchSize) {
    const batch = people
      .slice(start, start + batchSize)
      .map((person, i) => newMember(start + i + 2, [root], person))
    const assignment = await assignSearchChunks(root, batch, chunkCount, table.read)
    chunkCount = assignment.chunkCount
    for (const [userId, chunk] of assignment.chunkByUser) chunkOf.set(userId, chunk)
    table.write(assignment.turns.flat(2))
  }
  return { packed: table.chunks(root), chunkOf }
}

describe.each([12, 500])('assignSearchChunks, %d members at a time', (batchSize) => {
  it('every member is in the chunk that their entry names, and a chunk of usual names is one read of 4 KB', async () => {
    const people = Array.from({ length: 1_500 }, (_, i) => inventPerson(i))
    const { packed, chunkOf } = await assignAll(people, batchSize)
    for (const [i, person] of people.entries()) {
      const chunk = chunkOf.get(i + 2) ?? -1
      expect(unpackTexts(packed.get(chunk) ?? packTexts(new Map())).get(i + 2)).toEqual(toSearchText(person))
    }
    expect(Math.max(...[...packed.values()].map(({ length }) => length))).toBeLessThan(4_000)
    expect(packed.size).toBeLessThan(1_500 / 200)
    // A search reads and unpacks every one of these bytes: see CAPACITY.md.
    const bytes = [...packed.values()].reduce((sum, { length }) => sum + length, 0)
    expect(bytes / people.length).toBeLessThan(11)
  })

  it('no chunk comes near the size limit of an item, however long or alike the names are', async () => {
    const letters = (n: number) =>
      String.fromCodePoint(...Array.from({ length: n }, () => 0x4e00 + randomInt(20_000)))
    const long = await assignAll(
      Array.from({ length: 100 }, () => ({ nickname: letters(100), email: `a@${letters(250)}` })),
      batchSize,
    )
    expect(Math.max(...[...long.packed.values()].map(({ length }) => length))).toBeLessThan(20_000)
    const alike = await assignAll(
      Array.from({ length: 1_000 }, () => ({ nickname: 'A', email: 'a@b' })),
      batchSize,
    )
    const sizes = [...alike.packed.values()].map((bytes) => unpackTexts(bytes).size)
    // A name may become longer later: 372 of at most 1,050 bytes fit into an item, also uncompressed.
    expect(Math.max(...sizes)).toBeLessThan(372)
  })
})

describe('assignSearchChunks', () => {
  const large = (ownerId: number): Item & Key => {
    const children = [{ first: { joinedAt: 0, userId: 0 }, count: 5_000, id: 0 }]
    const node = { kind: 'branch' as const, version: 1, children }
    return { ...rootKey({ kind: 'COMMUNITY', ownerId }), ...packRoot({ node, nextId: 1 }) }
  }

  it('a large downline has chunks of its own: a full one is followed by a new one, one with room is used', async () => {
    const table = memoryTable([
      large(2),
      large(3),
      { ...openChunkKey(2), chunk: 7, full: true },
      { ...openChunkKey(3), chunk: 8, full: false },
    ])
    const batch = [
      newMember(11, [2, 1], inventPerson(1)),
      newMember(12, [3, 1], inventPerson(2)),
      newMember(13, [4, 1], inventPerson(3)),
      newMember(14, [5, 2, 1], inventPerson(4)),
    ]
    const { chunkByUser, chunkCount } = await assignSearchChunks(1, batch, 20, table.read)
    expect([...chunkByUser].sort()).toEqual([
      [11, 20],
      [12, 8],
      [13, 21],
      [14, 20],
    ])
    expect(chunkCount).toBe(22)
  })

  it('no group of writes is too large for a transaction, and no two groups of a turn write the same item', async () => {
    const batch = Array.from({ length: 500 }, (_, i) =>
      newMember(i + 10, i % 3 === 0 ? [2, 1] : [1], inventPerson(i)),
    )
    const { turns } = await assignSearchChunks(1, batch, 0, memoryTable([large(2)]).read)
    expect(turns.length).toBeGreaterThan(2)
    for (const groups of turns) {
      for (const group of groups) expect(group.length).toBeLessThanOrEqual(maxTransactionWrites)
      expect(areDistinct(groups.flat())).toBe(true)
    }
  })

  it('a member who has a search chunk keeps it', async () => {
    const member = newMember(10, [1], inventPerson(1))
    const assigned = { ...member, profile: { ...member.profile, chunk: 3 } }
    const { turns, chunkByUser, chunkCount } = await assignSearchChunks(1, [assigned], 5, memoryTable().read)
    expect({ turns, chunkCount, chunk: chunkByUser.get(10) }).toEqual({ turns: [], chunkCount: 5, chunk: 3 })
  })
})
