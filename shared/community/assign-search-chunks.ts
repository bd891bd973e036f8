import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { Integer, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import type { ReadItem } from './counted-b-tree/counted-b-tree.ts'
import { countOf, rootKey, unpackRoot } from './counted-b-tree/node.ts'
import { type Profile, updateSearchFields } from './member.ts'
import { chunkKey, extendChunk } from './search-chunks.ts'

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
  const owners = await findChunkOwners(unassigned, read)
  const openByOwner = new Map(
    await Promise.all([...new Set(owners)].map(async (id) => [id, await readOpenChunk(id, read)] as const)),
  )
  const allocation = allocateChunks(owners, openByOwner, chunkCount)
  const assigned = unassigned.map(({ profile }, i) => ({ profile, chunk: allocation.chunks[i] as number }))
  const extended = await Promise.all(
    [...Map.groupBy(assigned, ({ chunk }) => chunk)].map(async ([chunk, members]) => {
      const profiles = members.map(({ profile }) => profile)
      return { chunk, ...extendChunk(rootId, chunk, await read(chunkKey(rootId, chunk)), profiles) }
    }),
  )
  const isFullByChunk = new Map(extended.map(({ chunk, isFull }) => [chunk, isFull]))
  return {
    writes: [
      ...assigned.map(({ profile, chunk }) => updateSearchFields(profile, { chunk })),
      ...extended.map(({ write }) => write),
      ...[...allocation.openByOwner].map(([ownerId, { chunk }]) =>
        putOpenChunk(ownerId, { chunk, isFull: isFullByChunk.get(chunk) ?? true }),
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

/**
 * Finds the owner of each new member's search chunk: the nearest ancestor with a large downline, or else the
 * root. New members of a tree share most of their ancestors, so each root node is unpacked once.
 */
async function findChunkOwners(
  newMembers: readonly MemberWithAncestors[],
  read: ReadItem,
): Promise<number[]> {
  const ancestorIds = new Set(newMembers.flatMap(({ ancestors }) => ancestors))
  const counts = await Promise.all(
    [...ancestorIds].map(async (ownerId) => {
      const { node } = unpackRoot(await read(rootKey({ kind: 'COMMUNITY', ownerId })))
      return [ownerId, countOf(node)] as const
    }),
  )
  const large = new Set(counts.flatMap(([ownerId, count]) => (count >= minOwnerDownline ? [ownerId] : [])))
  return newMembers.map(({ ancestors }) => {
    const ownerId = ancestors.find((id) => large.has(id)) ?? ancestors.at(-1)
    if (ownerId === undefined) throw new Error('a new member has no ancestors')
    return ownerId
  })
}

const openChunks = itemType({
  pk: 'TEAM#{ownerId}',
  sk: 'OPEN',
  holds: 'the search chunk that the next new member of a downline goes into',
  found: 'by owner',
})

/** Key of the item that names the open search chunk of a downline. */
export const openChunkKey = (ownerId: number): Key => openChunks.key({ ownerId })

const OpenChunkItem = v.object({ chunk: Integer, full: v.boolean() })

async function readOpenChunk(ownerId: number, read: ReadItem): Promise<OpenChunk> {
  const item = await read(openChunkKey(ownerId))
  if (item === undefined) return noOpenChunk
  const { chunk, full: isFull } = v.parse(OpenChunkItem, item)
  return { chunk, isFull }
}

const putOpenChunk = (ownerId: number, { chunk, isFull }: OpenChunk): Write => ({
  Put: { Item: { ...openChunkKey(ownerId), chunk, full: isFull } },
})
