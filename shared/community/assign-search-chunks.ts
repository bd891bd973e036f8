import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { asStored, Integer, type Item, type Key } from '../db/table.ts'
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
  /**
   * Groups of writes, each for one transaction, in turns: those of one turn in any order, and after those
   * of the turn before. They may be made again after an interruption, once the tree's head has the number
   * of chunks.
   */
  turns: Write[][][]
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
  const membersByOwner = Map.groupBy(unassigned.keys(), (i) => owners[i] as number)
  const open = await Promise.all(
    [...membersByOwner].map(async ([ownerId, indexes]) => {
      const { chunk, isFull } = await readOpenChunk(ownerId, read)
      const stored = isFull ? undefined : await read(chunkKey(rootId, chunk))
      const profiles = Array.from(indexes, (i) => (unassigned[i] as MemberWithAncestors).profile)
      return { ownerId, profiles, chunk, isFull, stored }
    }),
  )
  let count = chunkCount
  const filled = open.map((chunks) => fillChunks(rootId, chunks, () => count++))
  const turnCount = Math.max(0, ...filled.map((groups) => groups.length))
  const groupsOfTurn = (turn: number) =>
    filled.flatMap((groups) => groups.slice(turn, turn + 1).map(({ writes }) => writes))
  return {
    turns: Array.from({ length: turnCount }, (_, turn) => groupsOfTurn(turn)),
    chunkByUser: new Map([
      ...newMembers.map(({ profile }) => [profile.userId, profile.chunk] as const),
      ...filled.flat().flatMap(({ chunk, userIds }) => userIds.map((userId) => [userId, chunk] as const)),
    ]),
    chunkCount: count,
  }
}

/** New members of one owner of chunks, and the owner's open chunk with its item as stored. */
interface MembersToAssign {
  ownerId: number
  profiles: readonly Profile[]
  chunk: number
  isFull: boolean
  stored: Item | undefined
}

/** How many members come into a chunk before it is measured whether it is full. */
const membersPerMeasure = 12

/** Maximum number of members in a group of writes, which a transaction must have room for. */
const membersPerGroup = 7 * membersPerMeasure

/**
 * Puts new members into the open chunk of their owner, and when that is full into new ones. Each group of
 * writes puts some members into one chunk, after the groups before it.
 */
function fillChunks(
  rootId: number,
  { ownerId, profiles, chunk, isFull, stored }: MembersToAssign,
  newChunk: () => number,
): { writes: Write[]; chunk: number; userIds: number[] }[] {
  const groups: ReturnType<typeof fillChunks> = []
  let waiting = profiles
  while (waiting.length > 0) {
    if (isFull) {
      chunk = newChunk()
      stored = undefined
    }
    const group = fillOnce(rootId, chunk, stored, waiting)
    ;({ isFull, stored } = group)
    groups.push({
      writes: [
        ...group.members.map((profile) => updateSearchFields(profile, { chunk })),
        group.write,
        putOpenChunk(ownerId, { chunk, isFull }),
      ],
      chunk,
      userIds: group.members.map(({ userId }) => userId),
    })
    waiting = waiting.slice(group.members.length)
  }
  return groups
}

/** Puts members into a chunk until it is full or has as many more as fit into a group. */
function fillOnce(rootId: number, chunk: number, stored: Item | undefined, waiting: readonly Profile[]) {
  for (let count = membersPerMeasure; ; count += membersPerMeasure) {
    const members = waiting.slice(0, count)
    const { item, write, isFull } = extendChunk(rootId, chunk, stored, members)
    if (isFull || count >= Math.min(waiting.length, membersPerGroup))
      return { members, write, isFull, stored: asStored(item) }
  }
}

/** The open search chunk of a downline, where its next new members go unless it is full. */
interface OpenChunk {
  chunk: number
  isFull: boolean
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
