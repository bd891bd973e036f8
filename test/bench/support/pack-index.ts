import type { MemberList } from '../../../shared/community/counted-b-tree/node.ts'
import { standardLimits } from '../../../shared/community/search-index/append-members.ts'
import { emptyIndex, indexItem, type SearchIndex } from '../../../shared/community/search-index/index-head.ts'
import {
  type IndexedMember,
  membersKey,
  membersPerItem,
  packMembers,
} from '../../../shared/community/search-index/members-item.ts'
import { prepareSegment } from '../../../shared/community/search-index/prepare-segment.ts'
import type { Item } from '../../../shared/db/table.ts'

/**
 * Builds the items of a list's search index as it is when it costs most: with as many small segments, and as
 * long a tail, as the worker lets there be. The members are sorted by position.
 */
export function* packIndex(list: MemberList, members: readonly IndexedMember[]): Generator<Item> {
  const { tailItems, smallSegments, segment: maxSegment } = standardLimits
  const tailSize = Math.min(members.length, tailItems * membersPerItem - 1)
  const smallSize = tailItems * membersPerItem
  const index: SearchIndex = { ...emptyIndex(undefined), backfilled: undefined, version: 1 }
  let start = 0
  while (start < members.length - tailSize) {
    const left = members.length - tailSize - start
    const isSmall = left <= (smallSegments - 1) * smallSize
    const part = members.slice(start, start + Math.min(left, isSmall ? smallSize : maxSegment))
    const { segment, items } = prepareSegment(list, index.nextId, part)
    yield* items()
    index.segments.push(segment)
    index.nextId += 1
    start += part.length
  }
  for (; start < members.length; start += membersPerItem) {
    const part = packMembers(members.slice(start, start + membersPerItem), 1)
    yield { ...membersKey(list, 'tail', index.tail.to), ...part }
    index.tail.to += 1
  }
  yield indexItem(list, index)
}
