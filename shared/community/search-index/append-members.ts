import type { ReadItem } from '../counted-b-tree/counted-b-tree.ts'
import type { MemberList } from '../counted-b-tree/node.ts'
import { putVersioned, type Write } from '../../db/write.ts'
import { emptyIndex, indexKey, minIndexed, putNextIndex, type SearchIndex, toIndex } from './index-head.ts'
import { type IndexedMember, membersKey, membersPerItem, packMembers, unpackMembers } from './members-item.ts'

/** How long a search index and its segments may become before the worker reorganizes it. */
export interface IndexLimits {
  /** A list of this many members has an index. */
  minIndexed: number
  /** A tail of this many items becomes a segment: 4,224 members. */
  tailItems: number
  /** A segment with fewer members than this is small; this many small ones are merged with the tail. */
  smallSegment: number
  smallSegments: number
  /** Maximum number of members in a segment. */
  segment: number
}

export const standardLimits: IndexLimits = {
  minIndexed,
  tailItems: 22,
  smallSegment: 16_384,
  smallSegments: 7,
  segment: 32_768,
}

/**
 * The writes that add newcomers to the tail of a list's search index, for the transaction that adds them to
 * the list of `count` members, and whether the index is then to be maintained. A list that has just become
 * large enough gets its index by maintenance. An index that lacks members is made anew; they are missing when
 * an earlier release has added them to the list.
 */
export async function appendMembers(
  list: MemberList,
  count: number,
  newMembers: readonly IndexedMember[],
  read: ReadItem,
  limits: IndexLimits,
): Promise<{ writes: Write[]; isDue: boolean }> {
  if (count + newMembers.length < limits.minIndexed) return { writes: [], isDue: false }
  const index = toIndex(await read(indexKey(list)))
  if (index === undefined) return { writes: [], isDue: true }
  const { tail } = index
  const lastNumber = Math.max(tail.from, tail.to - 1)
  const last = unpackMembers(
    tail.to > tail.from ? await read(membersKey(list, 'tail', lastNumber)) : undefined,
  )
  if (index.backfilled === undefined && indexedCount(index, last.members.length) !== count)
    return { writes: [putNextIndex(list, emptyIndex(index))], isDue: true }

  const writes: Write[] = []
  const rest = [...newMembers]
  let { version, members } = last
  let number = lastNumber
  while (rest.length > 0) {
    const added = rest.splice(0, membersPerItem - members.length)
    if (added.length > 0) {
      const item = {
        ...membersKey(list, 'tail', number),
        ...packMembers([...members, ...added], version + 1),
      }
      // A new item replaces what an interrupted restore may have left; the tree's head guards this write.
      writes.push(version === 0 ? { Put: { Item: item } } : putVersioned(item, version))
    }
    number += 1
    version = 0
    members = []
  }
  const to = Math.max(tail.to, number)
  if (to > tail.to) writes.push(putNextIndex(list, { ...index, tail: { ...tail, to } }))
  return { writes, isDue: index.backfilled !== undefined || to - tail.from >= limits.tailItems }
}

/** Number of members in an index whose last item of the tail has this many. */
const indexedCount = ({ segments, tail }: SearchIndex, last: number): number =>
  segments.reduce((sum, { size }) => sum + size, 0) +
  Math.max(0, tail.to - tail.from - 1) * membersPerItem +
  last
