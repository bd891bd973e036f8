import type { Item, Key } from '../../db/table.ts'
import type { MemberList } from '../counted-b-tree/node.ts'
import { isSameText, toSearchText } from '../keyword.ts'
import type { Profile } from '../member.ts'
import { indexKey, segmentKeys, segmentMembersKeys, tailKeys, toIndex } from './index-head.ts'
import { unpackMembers } from './members-item.ts'
import { areBlocksOf, blockKey, unpackBlock } from './term-block.ts'

/**
 * The items of a list's search index if it is whole and has exactly these members, each found by the terms of
 * the profile's text and by no others; otherwise none. For a restored table, which may have a part of the
 * items of a new name, and where the worker makes an index that is deleted anew.
 */
export function soundIndex(
  list: MemberList,
  members: readonly Profile[],
  find: (key: Key) => Item | undefined,
): Item[] {
  const head = find(indexKey(list))
  const index = toIndex(head)
  if (head === undefined || index === undefined || index.backfilled !== undefined) return []
  const tail = tailKeys(list, index.tail)
  const keys = [...tail, ...index.segments.flatMap((segment) => segmentKeys(list, segment))]
  const items = keys.map(find).filter((item) => item !== undefined)
  if (items.length !== keys.length) return []
  const membersAt = (key: Key) => unpackMembers(find(key)).members
  const segments = index.segments.map((segment) => ({
    segment,
    members: segmentMembersKeys(list, segment).flatMap(membersAt),
  }))
  const indexed = [...tail.flatMap(membersAt), ...segments.flatMap((one) => one.members)]
  const textByUser = new Map(members.map((member) => [member.userId, toSearchText(member)]))
  const isSame =
    indexed.length === members.length &&
    new Set(indexed.map(({ userId }) => userId)).size === members.length &&
    indexed.every(({ userId, text }) => isSameText(text, textByUser.get(userId)))
  const isFound = ({ segment: { id, bits }, members: inside }: (typeof segments)[number]) =>
    areBlocksOf(
      inside.map(({ text }) => text),
      bits,
      (block) => unpackBlock(find(blockKey(list, id, block)) as Item).block,
    )
  return isSame && segments.every(isFound) ? [head, ...items] : []
}
