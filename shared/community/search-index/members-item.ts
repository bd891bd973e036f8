import { deflateRawSync, inflateRawSync } from 'node:zlib'
import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { Integer, type Item, type Key } from '../../db/table.ts'
import { type BTreePosition, keyName, type MemberList } from '../counted-b-tree/node.ts'
import type { SearchText } from '../keyword.ts'

/** A member in a search index: position in the list, and search text. */
export interface IndexedMember extends BTreePosition {
  text: SearchText
}

/** Number of members in an item, except the last one of a segment: about 3.4 KB with usual names. */
export const membersPerItem = 192

const memberItems = itemType({
  pk: 'FIND#{list}#{ownerId}#{segment}.{number}',
  sk: 'MEMBERS',
  holds: 'some hundred members of a segment or of the tail of a search index, with their texts, compressed',
  found: 'by list, segment and number',
})

/** Key of an item with members; those of the tail are in the segment `tail`. */
export const membersKey = (list: MemberList, segment: number | 'tail', number: number): Key =>
  memberItems.key({ list: keyName[list.kind], ownerId: list.ownerId, segment, number })

const MembersItem = v.object({ version: Integer, packed: v.instance(Uint8Array) })

/** Attributes of an item with members. Packed by column, because like compresses best beside like. */
export function packMembers(members: readonly IndexedMember[], version: number): Item {
  const columns = [
    members.map(({ userId }, i) => userId - (members[i - 1]?.userId ?? 0)),
    members.map(({ joinedAt }, i) => joinedAt - (members[i - 1]?.joinedAt ?? 0)),
    members.map(({ text }) => text.nickname),
    members.map(({ text }) => text.maskedEmail),
  ]
  return { version, packed: deflateRawSync(JSON.stringify(columns), { level: 9 }) }
}

/** Unpacks the members of an item, and how often it has been written; none without an item. */
export function unpackMembers(item: Item | undefined): { version: number; members: IndexedMember[] } {
  if (item === undefined) return { version: 0, members: [] }
  const { version, packed } = v.parse(MembersItem, item)
  const [userIds, instants, nicknames, maskedEmails] = JSON.parse(inflateRawSync(packed).toString()) as [
    number[],
    number[],
    string[],
    string[],
  ]
  let userId = 0
  let joinedAt = 0
  const members = userIds.map((difference, i) => {
    userId += difference
    joinedAt += instants[i] ?? 0
    return { userId, joinedAt, text: { nickname: nicknames[i] ?? '', maskedEmail: maskedEmails[i] ?? '' } }
  })
  return { version, members }
}
