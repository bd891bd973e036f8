import * as v from 'valibot'
import { putVersioned } from '../db/write.ts'
import { Integer, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'

/**
 * The directory of a tree: the search texts of its members, in chunks of a few dozen, so that a keyword reads 1/64 of the
 * items that profiles would be. A member's text stands in one chunk only, whoever their ancestors are, so that a
 * renamed member costs one profile and one chunk.
 */
export const chunkSize = 64

/** Key of a chunk. Each has a partition of its own: a search reads thousands of them at once. */
export const chunkKey = (rootId: number, chunk: number): Key => ({
  pk: `TEXT#${rootId}#${chunk}`,
  sk: 'TEXT',
})

/** What a keyword is looked for in. No email holds the separator, so the last one parts the two. */
const separator = '\u0000'
export const searchText = (nickname: string, email: string): string =>
  nickname.toLowerCase() + separator + email.toLowerCase()

/** The search texts of a chunk, by user id. */
export interface Chunk {
  /** How often it has been written; 0 for one that is not there yet. */
  version: number
  texts: Map<number, string>
}

// One attribute for all texts: the SDK takes four times as long over one for each.
const ChunkItem = v.object({ version: Integer, texts: v.string() })

/** A chunk out of its item, or the empty one where there is none. */
export function unpackChunk(item: Record<string, unknown> | undefined): Chunk {
  if (item === undefined) return { version: 0, texts: new Map() }
  const { version, texts } = v.parse(ChunkItem, item)
  return { version, texts: new Map(JSON.parse(texts) as [number, string][]) }
}

/** Item of a chunk. */
export const chunkItem = (rootId: number, number: number, { version, texts }: Chunk) => ({
  ...chunkKey(rootId, number),
  version,
  texts: JSON.stringify([...texts]),
})

/** The write that puts members' texts into a chunk, in place of those before, provided that it is still as it was read. */
export function putTexts(
  rootId: number,
  number: number,
  chunk: Chunk,
  texts: ReadonlyMap<number, string>,
): Write {
  const next = { version: chunk.version + 1, texts: new Map([...chunk.texts, ...texts]) }
  return putVersioned(chunkItem(rootId, number, next), chunk.version)
}

/** Whether a lower-cased keyword stands in the nickname or in the email of a text, not across both. */
export function matchesKeyword(text: string, keyword: string): boolean {
  if (!text.includes(keyword)) return false
  const end = text.lastIndexOf(separator)
  return text.slice(0, end).includes(keyword) || text.slice(end + separator.length).includes(keyword)
}
