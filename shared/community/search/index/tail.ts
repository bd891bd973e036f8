import { readItem } from '../../../db/read.ts'
import { putVersioned, type Write } from '../../../db/write.ts'
import { type MemberList, rootKey } from '../../list/node.ts'
import { readRange } from '../../list/range.ts'
import { readProfiles } from '../../profile.ts'
import {
  emptyIndex,
  type IndexedMember,
  indexKey,
  maxSegment,
  membersKey,
  membersPerItem,
  packMembers,
  putNextIndex,
  toIndex,
  toIndexed,
  unpackMembers,
} from './items.ts'

/** Size limits of a search index. */
export interface IndexLimits {
  /** A list of this many members gets an index; a search of a shorter list reads the members' profiles. */
  minIndexed: number
  /** Number of items in a tail before it becomes a segment. Each full item holds 192 members. */
  tailItems: number
  /** Maximum number of members in a segment. */
  segment: number
}

export const standardLimits: IndexLimits = { minIndexed: 200, tailItems: 22, segment: maxSegment }

/** Returns the writes that add members to the tail. `isLong`: the new tail is long enough for a segment. */
type AppendToTail = (newMembers: readonly IndexedMember[]) => { writes: Write[]; isLong: boolean }

/**
 * Prepares to add at most `incoming` members to the tail of a list's search index. The list has `count`
 * members so far. The returned function creates the index writes for the transaction that adds the members.
 * These writes also create the index once the list is long enough.
 */
export async function openTail(
  list: MemberList,
  count: number,
  incoming: number,
  limits: IndexLimits,
): Promise<AppendToTail> {
  if (count + incoming < limits.minIndexed) return () => ({ writes: [], isLong: false })
  const stored = toIndex(await readItem(indexKey(list), { consistent: true }))
  const { tail, ...index } = stored ?? emptyIndex
  const lastKey = membersKey(list, 'tail', tail.to - 1)
  const read = tail.to > tail.from ? await readItem(lastKey, { consistent: true }) : undefined
  const last = unpackMembers(read)
  const hasRoom = last.version > 0 && last.members.length < membersPerItem
  const first = hasRoom ? tail.to - 1 : tail.to
  const earlier = hasRoom ? last.members : stored === undefined ? await readMembers(list) : []
  return (newMembers) => {
    const members = [...earlier, ...newMembers]
    const to = first + Math.ceil(members.length / membersPerItem)
    const writes = Array.from({ length: to - first }, (_, i): Write => {
      const part = members.slice(i * membersPerItem, (i + 1) * membersPerItem)
      const version = hasRoom && i === 0 ? last.version : 0
      const item = { ...membersKey(list, 'tail', first + i), ...packMembers(part, version + 1) }
      // A new item is written without a condition, because its number has never been used.
      return version === 0 ? { Put: { Item: item } } : putVersioned(item, version)
    })
    if (to > tail.to) writes.push(putNextIndex(list, { ...index, tail: { ...tail, to } }))
    return { writes, isLong: to - tail.from >= limits.tailItems }
  }
}

async function readMembers(list: MemberList): Promise<IndexedMember[]> {
  const root = await readItem(rootKey(list), { consistent: true })
  const { entries } = await readRange(list, root, { skip: 0, take: Infinity, consistent: true })
  return (await readProfiles(entries, { consistent: true })).map(toIndexed)
}
