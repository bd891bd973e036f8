import { readItems } from '../db/read.ts'
import { Failure } from '../errors.ts'
import { chunkKey, matchesKeyword, unpackChunk } from './directory.ts'
import type { BTreeEntry } from './counted-b-tree/entry.ts'

/** Chunks that are read and searched at a time: what they hold is dropped before the next ones come. */
const chunksAtATime = 1600

/** Longest search, in milliseconds: what is left of an endpoint's time goes to the page itself. */
const longestMilliseconds = 7_000

/** The members whose nickname or email holds a lower-cased keyword, in the order given. Reads are consistent. */
export async function searchTexts(
  rootId: number,
  entries: BTreeEntry[],
  keyword: string,
): Promise<BTreeEntry[]> {
  const deadline = Date.now() + longestMilliseconds
  const byChunk = Map.groupBy(entries, ({ chunk }) => chunk)
  const found = new Set<number>()
  const chunks = [...byChunk.keys()]
  for (let at = 0; at < chunks.length; at += chunksAtATime) {
    if (Date.now() > deadline) throw new Failure('unavailable', { retryAfterSeconds: 60 })
    const numbers = chunks.slice(at, at + chunksAtATime)
    const items = await readItems(
      numbers.map((chunk) => chunkKey(rootId, chunk)),
      { consistent: true },
    )
    for (const [i, chunk] of numbers.entries()) {
      const { texts } = unpackChunk(items[i])
      for (const { userId } of byChunk.get(chunk) ?? []) {
        const text = texts.get(userId)
        if (text !== undefined && matchesKeyword(text, keyword)) found.add(userId)
      }
    }
  }
  return entries.filter(({ userId }) => found.has(userId))
}
