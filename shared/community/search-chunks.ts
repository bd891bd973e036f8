import { deflateRawSync, inflateRawSync } from 'node:zlib'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { findItems, readItem, readItems } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { putVersioned, type Write } from '../db/write.ts'
import { Failure } from '../errors.ts'
import type { BTreeEntry } from './counted-b-tree/node.ts'
import { isSameText, type Keyword, matchesText, type SearchText, toSearchText } from './keyword.ts'
import type { Profile } from './member.ts'
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

/** Key of the item of a search chunk. */
export const chunkKey = (rootId: number, chunk: number): Key => searchChunks.key({ rootId, chunk })

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
  ...chunkKey(rootId, chunk),
  version,
  packed: packTexts(texts),
})

/** The item of a search chunk with the texts of exactly these members: the stored one if it has them. */
export function rebuildChunk(
  rootId: number,
  chunk: number,
  stored: Item | undefined,
  members: readonly NamedMember[],
): Item {
  const { version, texts: before } = toChunk(stored)
  const texts = new Map(members.map((member) => [member.userId, toSearchText(member)]))
  const isSame =
    texts.size === before.size && [...texts].every(([userId, text]) => isSameText(text, before.get(userId)))
  return stored !== undefined && isSame ? stored : chunkItem(rootId, chunk, { version: version + 1, texts })
}

/**
 * The item of a chunk with search texts added or replaced, given the stored one, its write, and whether it is
 * then full. Its condition fails if the chunk has changed since.
 */
export function extendChunk(
  rootId: number,
  chunk: number,
  stored: Item | undefined,
  members: readonly NamedMember[],
): { item: Item; write: Write; isFull: boolean } {
  const { version, texts: before } = toChunk(stored)
  const added = members.map((member) => [member.userId, toSearchText(member)] as const)
  const texts = new Map([...before, ...added])
  const item = chunkItem(rootId, chunk, { version: version + 1, texts })
  const isFull = item.packed.length >= maxChunk.bytes || texts.size >= maxChunk.texts
  return { item, write: putVersioned(item, version), isFull }
}

/** The write that replaces a member's search text, for the transaction that renames the member. */
export async function replaceText(rootId: number, chunk: number, member: NamedMember): Promise<Write> {
  const stored = await readItem(chunkKey(rootId, chunk), { consistent: true })
  return extendChunk(rootId, chunk, stored, [member]).write
}

/** Reads the search texts of members, strongly consistent, in the order given. */
export async function readSearchTexts(rootId: number, entries: readonly BTreeEntry[]): Promise<SearchText[]> {
  const chunks = [...new Set(entries.map(({ chunk }) => chunk))]
  const items = await readItems(
    chunks.map((chunk) => chunkKey(rootId, chunk)),
    { consistent: true },
  )
  const textsByChunk = new Map(chunks.map((chunk, i) => [chunk, toChunk(items[i]).texts]))
  return entries.map(({ userId, chunk }) => {
    const text = textsByChunk.get(chunk)?.get(userId)
    if (text === undefined) throw new Error('a member of a list has no search text')
    return text
  })
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

/** Conditions of a search: it reserves its read units, and gives up after `deadline`, epoch milliseconds. */
export interface ChunkSearch {
  /** User id of the owner of the address that is the whole keyword. */
  addressOwner: number | undefined
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
  { addressOwner, reserve, deadline }: ChunkSearch,
): Promise<BTreeEntry[]> {
  const chunks = [...Map.groupBy(entries, ({ chunk }) => chunk)]
  await reserve(otherUnits + chunks.length * chunkUnits)
  const found = await searchTexts(rootId, chunks, keyword, deadline)
  return entries.filter(({ userId }) => found.has(userId) || userId === addressOwner)
}

/** The entries of a list by the search chunk that they name. */
type EntriesByChunk = readonly (readonly [chunk: number, entries: BTreeEntry[]])[]

/** Finds who matches a keyword among the members in search chunks, which may be more than the entries. */
async function searchTexts(
  rootId: number,
  chunks: EntriesByChunk,
  keyword: Keyword,
  deadline: number,
): Promise<Set<number>> {
  const found = new Set<number>()
  for (let start = 0; start < chunks.length; start += searchBatchSize) {
    if (Date.now() > deadline) throw new Failure('unavailable', { retryAfterSeconds: 60 })
    for (const texts of await readTexts(rootId, chunks.slice(start, start + searchBatchSize)))
      for (const [userId, text] of texts) if (matchesText(text, keyword)) found.add(userId)
  }
  return found
}

/**
 * Reads the search texts of chunks. One that lacks the text of an entry, because its member has joined a
 * moment ago, is outdated.
 */
const readTexts = (rootId: number, chunks: EntriesByChunk): Promise<SearchChunk['texts'][]> =>
  findItems(
    chunks.map(([chunk]) => chunkKey(rootId, chunk)),
    (item) => toChunk(item).texts,
    (texts, i) => chunks[i]?.[1].some(({ userId }) => !texts.has(userId)) ?? false,
  )
