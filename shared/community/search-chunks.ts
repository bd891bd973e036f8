import { deflateRawSync, inflateRawSync } from 'node:zlib'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem, readItems } from '../db/read.ts'
import { Integer, type Item } from '../db/table.ts'
import { putVersioned, type Write } from '../db/write.ts'
import { Failure } from '../errors.ts'
import { readEmailOwner } from '../users/email-owner.ts'
import type { ReadItem } from './counted-b-tree/counted-b-tree.ts'
import { type BTreeEntry, countOf, rootKey, unpackRoot } from './counted-b-tree/node.ts'
import { type Keyword, matchesText, type SearchText, toSearchText } from './keyword.ts'
import { type Profile, updateSearchFields } from './member.ts'
import type { ReserveUnits } from './search-budget.ts'

/**
 * Search chunks hold the search texts of a tree's members, compressed, some hundred members to an item, so
 * that a keyword search reads few items. A member is in one chunk only, however many ancestors list the
 * member, so a rename writes one profile and one chunk. Entries of lists name the member's chunk.
 *
 * A chunk takes new members until it has this many bytes, a little less than the 4 KB of half a read unit, or
 * this many texts: however long they all become, they stay below the 400 KB of an item.
 */
export const maxChunk = { bytes: 3_400, texts: 360 }

const searchChunks = itemType({
  // Each search chunk has its own partition, because a search reads thousands of chunks at once.
  pk: 'TEXT#{rootId}#{chunk}',
  sk: 'TEXT',
  holds: 'the search texts of some hundred members of a tree, compressed',
  found: 'by root and number',
})
const openChunks = itemType({
  pk: 'TEAM#{ownerId}',
  sk: 'OPEN',
  holds: 'the search chunk that the next new member of a downline goes into',
  found: 'by owner',
})

/** A search chunk: its search texts by user id, and how often it has been written (0: not yet stored). */
interface SearchChunk {
  version: number
  texts: ReadonlyMap<number, SearchText>
}

type NamedMember = Pick<Profile, 'userId' | 'nickname' | 'email'>

const ChunkItem = v.object({ version: Integer, packed: v.instance(Uint8Array) })

function toChunk(item: Item | undefined): SearchChunk {
  if (item === undefined) return { version: 0, texts: new Map() }
  const { version, packed } = v.parse(ChunkItem, item)
  return { version, texts: unpackTexts(packed) }
}

/** Packs search texts by column, because like compresses best beside like; user ids as differences. */
export function packTexts(texts: ReadonlyMap<number, SearchText>): Uint8Array {
  const userIds = [...texts.keys()]
  const columns = [
    userIds.map((userId, i) => userId - (userIds[i - 1] ?? 0)),
    [...texts.values()].map(({ nickname }) => nickname),
    [...texts.values()].map(({ maskedEmail }) => maskedEmail),
  ]
  return deflateRawSync(JSON.stringify(columns), { level: 9 })
}

/** Unpacks what packTexts has packed. */
export function unpackTexts(packed: Uint8Array): Map<number, SearchText> {
  const columns = JSON.parse(inflateRawSync(packed).toString()) as [number[], string[], string[]]
  const [differences, nicknames, maskedEmails] = columns
  let userId = 0
  return new Map(
    differences.map((difference, i) => {
      userId += difference
      return [userId, { nickname: nicknames[i] ?? '', maskedEmail: maskedEmails[i] ?? '' }]
    }),
  )
}

/** The item of a search chunk. */
export const chunkItem = (rootId: number, chunk: number, { version, texts }: SearchChunk) => ({
  ...searchChunks.key({ rootId, chunk }),
  version,
  packed: packTexts(texts),
})

/** A search chunk with added or replaced texts, as its next version. */
const withTexts = ({ version, texts }: SearchChunk, members: readonly NamedMember[]): SearchChunk => ({
  version: version + 1,
  texts: new Map([...texts, ...members.map((member) => [member.userId, toSearchText(member)] as const)]),
})

/** The write that replaces a member's search text, for the transaction that renames the member. */
export async function replaceText(rootId: number, chunk: number, member: NamedMember): Promise<Write> {
  const stored = toChunk(await readItem(searchChunks.key({ rootId, chunk }), { consistent: true }))
  return putVersioned(chunkItem(rootId, chunk, withTexts(stored, [member])), stored.version)
}

/** How many search chunks are read and searched at a time, to bound the memory of a search. */
const searchBatchSize = 800

/** Read units of an eventually consistent read of a search chunk. */
const chunkUnits = 0.5

/**
 * Read units of everything else that a search reads: the session, the caller's items, a reserved address, and
 * a page of 20 members with the notes on them.
 */
const otherUnits = 25

/** Limits of a search: it reserves its read units, and gives up after `deadline`, epoch milliseconds. */
export interface SearchLimits {
  reserve: ReserveUnits
  deadline: number
}

/**
 * Returns the members who match a keyword, in the order given. Reserves what that costs before it reads. A
 * change of a name shows after about a second. Throws `unavailable` after the deadline.
 */
export async function findInChunks(
  rootId: number,
  entries: BTreeEntry[],
  keyword: Keyword,
  { reserve, deadline }: SearchLimits,
): Promise<BTreeEntry[]> {
  const entriesByChunk = Map.groupBy(entries, ({ chunk }) => chunk)
  await reserve(otherUnits + entriesByChunk.size * chunkUnits)
  const found = new Set<number>()
  const chunks = [...entriesByChunk]
  for (let start = 0; start < chunks.length; start += searchBatchSize) {
    if (Date.now() > deadline) throw new Failure('unavailable', { retryAfterSeconds: 60 })
    const batch = chunks.slice(start, start + searchBatchSize)
    for (const texts of await readTexts(rootId, batch))
      for (const [userId, text] of texts) if (matchesText(text, keyword)) found.add(userId)
  }
  const emailOwner = keyword.address && (await readEmailOwner(keyword.address))
  if (emailOwner) found.add(emailOwner)
  return entries.filter(({ userId }) => found.has(userId))
}

/**
 * Reads search chunks with the texts of the given entries, and of other members of the tree. A chunk that an
 * eventually consistent read finds without one of its entries, because the member has joined a moment ago, is
 * read again consistently.
 */
async function readTexts(
  rootId: number,
  chunks: readonly (readonly [chunk: number, entries: BTreeEntry[]])[],
): Promise<SearchChunk['texts'][]> {
  const read = async (numbers: number[], consistent: boolean) => {
    const keys = numbers.map((chunk) => searchChunks.key({ rootId, chunk }))
    return (await readItems(keys, { consistent })).map((item) => toChunk(item).texts)
  }
  const numbers = chunks.map(([chunk]) => chunk)
  const texts = await read(numbers, false)
  const isComplete = chunks.map(([, entries], i) => entries.every(({ userId }) => texts[i]?.has(userId)))
  const stale = numbers.filter((_, i) => !isComplete[i])
  return [...texts.filter((_, i) => isComplete[i]), ...(await read(stale, true))]
}

/** A new member and all their ancestors, the referrer first, the root last. */
export interface MemberWithAncestors {
  profile: Profile
  ancestors: number[]
}

/** The search chunks assigned to new members, and the writes that put their search texts into them. */
export interface ChunkAssignment {
  writes: Write[]
  chunkByUser: Map<number, number | undefined>
  /** Number of search chunks in the tree, including new ones. */
  chunkCount: number
}

/**
 * Assigns search chunks to the new members who have none yet. A large downline has chunks of its own, so that
 * a search in it reads few texts of other members. The chunks of all other members belong to the root.
 */
export async function assignSearchChunks(
  rootId: number,
  newMembers: readonly MemberWithAncestors[],
  chunkCount: number,
  read: ReadItem,
): Promise<ChunkAssignment> {
  const unassigned = newMembers.filter(({ profile }) => profile.chunk === undefined)
  const owners = await Promise.all(unassigned.map(({ ancestors }) => findChunkOwner(ancestors, read)))
  const openByOwner = new Map(
    await Promise.all([...new Set(owners)].map(async (id) => [id, await readOpenChunk(id, read)] as const)),
  )
  const allocation = allocateChunks(owners, openByOwner, chunkCount)
  const assigned = unassigned.map(({ profile }, i) => ({ profile, chunk: allocation.chunks[i] as number }))
  const extended = await Promise.all(
    [...Map.groupBy(assigned, ({ chunk }) => chunk)].map(async ([chunk, members]) => {
      const stored = toChunk(await read(searchChunks.key({ rootId, chunk })))
      const after = withTexts(
        stored,
        members.map(({ profile }) => profile),
      )
      const item = chunkItem(rootId, chunk, after)
      const isFull = item.packed.length >= maxChunk.bytes || after.texts.size >= maxChunk.texts
      return { chunk, isFull, write: putVersioned(item, stored.version) }
    }),
  )
  const isFull = new Map(extended.map((chunk) => [chunk.chunk, chunk.isFull]))
  return {
    writes: [
      ...assigned.map(({ profile, chunk }) => updateSearchFields(profile, { chunk })),
      ...extended.map(({ write }) => write),
      ...[...allocation.openByOwner].map(([ownerId, { chunk }]) =>
        putOpenChunk(ownerId, { chunk, isFull: isFull.get(chunk) ?? true }),
      ),
    ],
    chunkByUser: new Map([
      ...newMembers.map(({ profile }) => [profile.userId, profile.chunk] as const),
      ...assigned.map(({ profile, chunk }) => [profile.userId, chunk] as const),
    ]),
    chunkCount: allocation.chunkCount,
  }
}

/** The open search chunk of a downline, where its next new members go unless it is full. */
export interface OpenChunk {
  chunk: number
  isFull: boolean
}

/**
 * Decides the search chunk of each new member of a batch: the open chunk of the member's chunk owner, or a
 * new one when that is full. Chunks are numbered from 0, so `chunkCount` is the number of the next new one.
 */
export function allocateChunks(
  owners: readonly number[],
  openByOwner: ReadonlyMap<number, OpenChunk>,
  chunkCount: number,
): { chunks: number[]; openByOwner: Map<number, OpenChunk>; chunkCount: number } {
  const open = new Map(openByOwner)
  let count = chunkCount
  const chunks = owners.map((ownerId) => {
    let { chunk, isFull } = open.get(ownerId) ?? noOpenChunk
    if (isFull) {
      chunk = count
      isFull = false
      count += 1
    }
    open.set(ownerId, { chunk, isFull })
    return chunk
  })
  return { chunks, openByOwner: open, chunkCount: count }
}

/** A downline without an open search chunk is treated as if its last chunk were full. */
const noOpenChunk: OpenChunk = { chunk: 0, isFull: true }

/** A downline of this size or more has search chunks of its own. */
const minOwnerDownline = 4096

/** Owner of a new member's search chunk: the nearest ancestor with a large downline, or else the root. */
async function findChunkOwner(ancestors: readonly number[], read: ReadItem): Promise<number> {
  const counts = await Promise.all(
    ancestors.map(async (ownerId) =>
      countOf(unpackRoot(await read(rootKey({ kind: 'COMMUNITY', ownerId }))).node),
    ),
  )
  const ownerId = ancestors.find((_, i) => (counts[i] ?? 0) >= minOwnerDownline) ?? ancestors.at(-1)
  if (ownerId === undefined) throw new Error('a new member has no ancestors')
  return ownerId
}

const OpenChunkItem = v.object({ chunk: Integer, full: v.boolean() })

async function readOpenChunk(ownerId: number, read: ReadItem): Promise<OpenChunk> {
  const item = await read(openChunks.key({ ownerId }))
  if (item === undefined) return noOpenChunk
  const { chunk, full: isFull } = v.parse(OpenChunkItem, item)
  return { chunk, isFull }
}

const putOpenChunk = (ownerId: number, { chunk, isFull }: OpenChunk): Write => ({
  Put: { Item: { ...openChunks.key({ ownerId }), chunk, full: isFull } },
})
