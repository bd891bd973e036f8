import { randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  allocateChunks,
  assignSearchChunks,
  type OpenChunk,
} from '../../../shared/community/assign-search-chunks.ts'
import { toSearchText } from '../../../shared/community/keyword.ts'
import { newProfileItem, toProfile } from '../../../shared/community/member.ts'
import { packTexts, unpackTexts } from '../../../shared/community/search-chunks.ts'
import { asStored, type Item } from '../../../shared/db/table.ts'
import { inventPerson } from '../../bench/support/invent-person.ts'

describe('allocateChunks', () => {
  const open = (...chunks: [ownerId: number, chunk: OpenChunk][]) => new Map(chunks)

  it('an owner without an open search chunk gets the next new one', () => {
    expect(allocateChunks([1, 1], open(), 5)).toEqual({
      chunks: [5, 5],
      openByOwner: open([1, { chunk: 5, isFull: false }]),
      chunkCount: 6,
    })
  })

  it('a full search chunk is followed by a new one, and one with room is used', () => {
    const before = open([1, { chunk: 2, isFull: true }], [2, { chunk: 3, isFull: false }])
    expect(allocateChunks([1, 2, 1, 2], before, 5)).toEqual({
      chunks: [5, 3, 5, 3],
      openByOwner: open([1, { chunk: 5, isFull: false }], [2, { chunk: 3, isFull: false }]),
      chunkCount: 6,
    })
  })

  it('allocating search chunks does not modify the open chunks that were passed in', () => {
    const before = open([1, { chunk: 2, isFull: true }])
    allocateChunks([1], before, 5)
    expect(before).toEqual(open([1, { chunk: 2, isFull: true }]))
  })
})

/** Assigns chunks to members in batches of 12, as the worker does. Returns the packed chunks by number. */
async function assignAll(people: readonly { nickname: string; email: string }[]) {
  const root = 1
  const store = new Map<string, Item>()
  const packed = new Map<number, Uint8Array>()
  const chunkOf = new Map<number, number | undefined>()
  let chunkCount = 0
  for (let start = 0; start < people.length; start += 12) {
    const batch = people.slice(start, start + 12).map(({ nickname, email }, i) => {
      const place = { userId: start + i + 2, joinedAt: 0, rootId: root, depth: 1, upline: [root] }
      return {
        profile: toProfile(asStored(newProfileItem({ ...place, nickname, email }))),
        ancestors: [root],
      }
    })
    const assignment = await assignSearchChunks(root, batch, chunkCount, async (key) =>
      store.get(key.pk + key.sk),
    )
    chunkCount = assignment.chunkCount
    for (const [userId, chunk] of assignment.chunkByUser) chunkOf.set(userId, chunk)
    for (const { Put } of assignment.writes) {
      if (Put?.Item === undefined) continue
      store.set(`${String(Put.Item['pk'])}${String(Put.Item['sk'])}`, asStored(Put.Item))
      const chunk = /^TEXT#1#(\d+)$/.exec(String(Put.Item['pk']))?.[1]
      if (chunk !== undefined) packed.set(Number(chunk), Put.Item['packed'] as Uint8Array)
    }
  }
  return { packed, chunkOf }
}

describe('assignSearchChunks', () => {
  it('every member is in the chunk that their entry names, and a chunk of usual names is one read of 4 KB', async () => {
    const people = Array.from({ length: 1_500 }, (_, i) => inventPerson(i))
    const { packed, chunkOf } = await assignAll(people)
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
    )
    expect(Math.max(...[...long.packed.values()].map(({ length }) => length))).toBeLessThan(20_000)
    const alike = await assignAll(Array.from({ length: 1_000 }, () => ({ nickname: 'A', email: 'a@b' })))
    const sizes = [...alike.packed.values()].map((bytes) => unpackTexts(bytes).size)
    // A name may become longer later: 372 of at most 1,050 bytes fit into an item, also uncompressed.
    expect(Math.max(...sizes)).toBeLessThan(372)
  })
})
