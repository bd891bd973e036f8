import type { Item, Key } from '../../db/table.ts'
import type { BTreePosition, MemberList } from '../counted-b-tree/node.ts'
import type { Segment } from './index-head.ts'
import { type IndexedMember, membersKey, membersPerItem, packMembers } from './members-item.ts'
import { blockKey, packBlock, prepareBlocks } from './term-block.ts'

/** Prepares a segment of at most `maxSegment` members, sorted by position; `items` makes its items. */
export function prepareSegment(
  list: MemberList,
  id: number,
  members: readonly IndexedMember[],
): { segment: Segment; items: () => Generator<Item & Key> } {
  const { bits, makeBlock } = prepareBlocks(members.map(({ text }) => text))
  const segment = {
    id,
    size: members.length,
    bits,
    oldest: positionOf(members[0]),
    newest: positionOf(members.at(-1)),
  }
  function* items() {
    for (let i = 0; i * membersPerItem < members.length; i += 1) {
      const part = members.slice(i * membersPerItem, (i + 1) * membersPerItem)
      yield { ...membersKey(list, id, i), ...packMembers(part, 1) }
    }
    for (let block = 0; block < 2 ** bits; block += 1)
      yield { ...blockKey(list, id, block), ...packBlock(makeBlock(block), 1) }
  }
  return { segment, items }
}

function positionOf(member: IndexedMember | undefined): BTreePosition {
  if (member === undefined) throw new Error('a segment has no members')
  const { joinedAt, userId } = member
  return { joinedAt, userId }
}
