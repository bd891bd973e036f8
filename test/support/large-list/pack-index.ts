import type { MemberList } from '../../../shared/community/list/node.ts'
import {
  emptyIndex,
  type IndexedMember,
  membersKey,
  membersPerItem,
  packMembers,
  putNextIndex,
  type SearchIndex,
} from '../../../shared/community/search/index/items.ts'
import { prepareSegment } from '../../../shared/community/search/index/segment.ts'
import { standardLimits } from '../../../shared/community/search/index/tail.ts'
import type { Item } from '../../../shared/db/table.ts'

/**
 * Builds the items of a member list's search index in its costliest state: with as many segments and as long
 * a tail as possible. Members must be sorted by position.
 */
export function* packIndex(list: MemberList, members: readonly IndexedMember[]): Generator<Item> {
  const { tailItems, segment: maxSize } = standardLimits
  const longTail = tailItems * membersPerItem
  const tailSize = Math.min(members.length, longTail - 1)
  const index: SearchIndex = structuredClone(emptyIndex)
  let start = 0
  while (start < members.length - tailSize) {
    const size = Math.min(members.length - tailSize - start, Math.floor(maxSize / longTail) * longTail)
    const { segment, items } = prepareSegment(list, String(start), members.slice(start, start + size))
    yield* items()
    index.segments.push(segment)
    start += size
  }
  for (; start < members.length; start += membersPerItem) {
    const part = packMembers(members.slice(start, start + membersPerItem), 1)
    yield { ...membersKey(list, 'tail', index.tail.to), ...part }
    index.tail.to += 1
  }
  yield putNextIndex(list, index).Put?.Item ?? {}
}
