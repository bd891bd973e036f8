import type { Item, Key } from '../../db/table.ts'
import type { MemberList } from '../counted-b-tree/node.ts'
import { isSameText, toSearchText } from '../keyword.ts'
import type { Profile } from '../member.ts'
import { indexKey, segmentKeys, segmentMembersKeys, tailKeys, toIndex } from './index-head.ts'
import { unpackMembers } from './members-item.ts'

/**
 * The items of a list's search index if it is whole and has exactly these members, each with the text of the
 * profile; otherwise none. For a restored table, where the worker makes an index that is deleted anew.
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
  const memberKeys = [...tail, ...index.segments.flatMap((segment) => segmentMembersKeys(list, segment))]
  const indexed = memberKeys.flatMap((key) => unpackMembers(find(key)).members)
  const textByUser = new Map(members.map((member) => [member.userId, toSearchText(member)]))
  const isSame = indexed.every(({ userId, text }) => isSameText(text, textByUser.get(userId)))
  return isSame && items.length === keys.length && indexed.length === members.length ? [head, ...items] : []
}
