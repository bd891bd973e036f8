import * as v from 'valibot'
import { Integer, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { chunkKey, chunkSize, putTexts, searchText, unpackChunk } from './directory.ts'
import type { ReadItem } from './counted-b-tree/counted-b-tree.ts'
import { countOf, rootKey, unpackRoot } from './counted-b-tree/node.ts'
import { type Profile, setChunk } from './profile.ts'

/**
 * Size from which a downline has chunks of its own in the directory, so that a search in it reads little of its
 * neighbours' texts: at most this many members are filed before, among those of others.
 */
const ownChunksFrom = 4096

/** The chunk that newcomers of a downline are filed in, and how many are in it. */
interface OpenChunk {
  chunk: number
  fill: number
}

const OpenItem = v.object({ chunk: Integer, fill: Integer })
const openKey = (ownerId: number): Key => ({ pk: `TEAM#${ownerId}`, sk: 'OPEN' })

/** A newcomer and all their ancestors, the referrer first. */
export interface Newcomer {
  profile: Profile
  ancestors: number[]
}

/** Search texts that have been given their places. */
export interface ChunkAssignment {
  writes: Write[]
  /** Chunk of each newcomer. */
  chunkOf: Map<number, number>
  /** Number of chunks of the tree, with those that were opened. */
  chunks: number
}

/** Files the search texts of newcomers who have none in the directory yet; `chunks` is how many it has. */
export async function assignSearchChunks(
  rootId: number,
  newcomers: readonly Newcomer[],
  chunks: number,
  read: ReadItem,
): Promise<ChunkAssignment> {
  const filing: ChunkAssignment = { writes: [], chunkOf: new Map(), chunks }
  const open = new Map<number, OpenChunk>()
  const texts = new Map<number, Map<number, string>>()
  for (const { profile, ancestors } of newcomers) {
    if (profile.chunk !== undefined) {
      filing.chunkOf.set(profile.userId, profile.chunk)
      continue
    }
    const owner = await chunkOwner(ancestors, read)
    const place = open.get(owner) ?? (await readOpen(owner, read))
    if (place.fill === chunkSize) {
      Object.assign(place, { chunk: filing.chunks, fill: 0 })
      filing.chunks += 1
    }
    place.fill += 1
    open.set(owner, place)
    filing.chunkOf.set(profile.userId, place.chunk)
    const chunk = texts.get(place.chunk) ?? new Map<number, string>()
    texts.set(place.chunk, chunk.set(profile.userId, searchText(profile.nickname, profile.email)))
    filing.writes.push(setChunk(profile, place.chunk))
  }
  for (const [number, members] of texts) {
    const chunk = unpackChunk(await read(chunkKey(rootId, number)))
    filing.writes.push(putTexts(rootId, number, chunk, members))
  }
  for (const [owner, place] of open) {
    filing.writes.push({ Put: { Item: { ...openKey(owner), ...place } } })
  }
  return filing
}

/** The nearest ancestor whose downline is large, or else the root. */
async function chunkOwner(ancestors: readonly number[], read: ReadItem): Promise<number> {
  const counts = await Promise.all(
    ancestors.map(async (ownerId) =>
      countOf(unpackRoot(await read(rootKey({ kind: 'COMMUNITY', ownerId }))).node),
    ),
  )
  const owner = ancestors.find((_, i) => (counts[i] ?? 0) >= ownChunksFrom) ?? ancestors.at(-1)
  if (owner === undefined) throw new Error('a newcomer has no ancestors')
  return owner
}

/** The open chunk of a downline; one that is as good as full where it has none yet. */
async function readOpen(owner: number, read: ReadItem): Promise<OpenChunk> {
  const item = await read(openKey(owner))
  return item === undefined ? { chunk: 0, fill: chunkSize } : v.parse(OpenItem, item)
}
