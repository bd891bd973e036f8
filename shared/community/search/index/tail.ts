import { putVersioned, type Write } from '../../../db/write.ts'
import { type MemberList, rootKey } from '../../list/node.ts'
import { readRange } from '../../list/range.ts'
import type { ReadItem } from '../../list/tree.ts'
import { profileKey, toProfile } from '../../profile.ts'
import {
  emptyIndex,
  type IndexedMember,
  indexKey,
  membersKey,
  membersPerItem,
  packMembers,
  putNextIndex,
  toIndex,
  toIndexed,
  unpackMembers,
} from './items.ts'
import { maxSegment } from './segment.ts'

/** How long a search index and its segments may become. */
export interface IndexLimits {
  /** A list of this many members has an index; a search of a smaller one reads their profiles. */
  minIndexed: number
  /** A tail of this many items becomes a segment: 4,224 members. */
  tailItems: number
  /** Maximum number of members in a segment. */
  segment: number
}

export const standardLimits: IndexLimits = { minIndexed: 200, tailItems: 22, segment: maxSegment }

/** Adds newcomers to a tail. `isLong` says that its members should become a segment. */
export type AppendToTail = (newMembers: readonly IndexedMember[]) => { writes: Write[]; isLong: boolean }

/**
 * Reads what is needed to add newcomers, at most `incoming`, to the tail of a list's search index. The writes
 * are for the transaction that adds them to the list of `count` members. A list that becomes large enough
 * gets its index with them.
 */
export async function openTail(
  list: MemberList,
  count: number,
  incoming: number,
  read: ReadItem,
  limits: IndexLimits,
): Promise<AppendToTail> {
  if (count + incoming < limits.minIndexed) return () => ({ writes: [], isLong: false })
  const stored = toIndex(await read(indexKey(list)))
  const index = stored ?? emptyIndex
  const { tail } = index
  const lastNumber = Math.max(tail.from, tail.to - 1)
  const last = unpackMembers(
    tail.to > tail.from ? await read(membersKey(list, 'tail', lastNumber)) : undefined,
  )
  const earlier = stored === undefined ? await readMembers(list, read) : []
  return (newMembers) => {
    const writes: Write[] = []
    const rest = [...earlier, ...newMembers]
    let { version, members } = last
    let number = lastNumber
    for (; rest.length > 0; number += 1) {
      const added = rest.splice(0, membersPerItem - members.length)
      const packed = packMembers([...members, ...added], version + 1)
      const item = { ...membersKey(list, 'tail', number), ...packed }
      // The number of a new item has never been used, so there is nothing that it could overwrite.
      if (added.length > 0) writes.push(version === 0 ? { Put: { Item: item } } : putVersioned(item, version))
      version = 0
      members = []
    }
    const to = Math.max(tail.to, number)
    if (to > tail.to) writes.push(putNextIndex(list, { ...index, tail: { ...tail, to } }))
    return { writes, isLong: to - tail.from >= limits.tailItems }
  }
}

/** Reads all members of a list, strongly consistent. */
async function readMembers(list: MemberList, read: ReadItem): Promise<IndexedMember[]> {
  const everyone = { skip: 0, take: Infinity, consistent: true }
  const { entries } = await readRange(list, await read(rootKey(list)), everyone)
  return Promise.all(
    entries.map(async ({ userId }) => {
      const item = await read(profileKey(userId))
      if (item === undefined) throw new Error('a member of a list has no profile')
      return toIndexed(toProfile(item))
    }),
  )
}
