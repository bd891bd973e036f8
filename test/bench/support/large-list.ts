import {
  type BTreeEntry,
  comparePositions,
  type MemberList,
} from '../../../shared/community/counted-b-tree/node.ts'
import { type SearchText, toSearchText } from '../../../shared/community/keyword.ts'
import { newProfileItem } from '../../../shared/community/member.ts'
import { chunkItem, maxChunk, packTexts } from '../../../shared/community/search-chunks.ts'
import { asStored, type Item, type Key } from '../../../shared/db/table.ts'
import { inventPerson } from './invent-person.ts'
import { packIndex } from './pack-index.ts'
import { packList } from './pack-list.ts'

type Person = ReturnType<typeof inventPerson>

/** The user id of the member who owns the list; the ids of the others follow it. */
export const listOwnerId = 1

/** Finds an item of a large list as the table returns it: with numbers as their text. */
export type FindItem = (key: Key) => Item | undefined

/**
 * The items that a search in the downline of one member reads, of as many members as nobody writes into
 * DynamoDB Local for a measurement: lists and texts are kept, profiles are made when they are read.
 */
export function largeList(
  size: number,
  person: (number: number) => Person = inventPerson,
  { isIndexed = false }: { isIndexed?: boolean } = {},
): FindItem {
  const stored = new Map<string, Item>()
  const keep = (item: Item & Partial<Key>) => stored.set(`${item.pk ?? ''} ${item.sk ?? ''}`, asStored(item))
  const entries: BTreeEntry[] = []
  let texts = new Map<number, SearchText>()
  let chunk = 0
  for (let i = 1; i <= size; i += 1) {
    const userId = listOwnerId + i
    texts.set(userId, toSearchText(person(userId)))
    // Someone joins every 30 seconds or so.
    entries.push({ userId, joinedAt: Date.UTC(2024, 0, 1) + i * 30_000 + ((i * 7_919) % 29_989), chunk })
    const isMeasured = texts.size >= 220 && texts.size % 12 === 0
    const isFull = isMeasured && (texts.size >= maxChunk.texts || packTexts(texts).length >= maxChunk.bytes)
    if (!isFull && i < size) continue
    keep(chunkItem(listOwnerId, chunk, { version: 1, texts }))
    chunk += 1
    texts = new Map()
  }
  const list: MemberList = { kind: 'COMMUNITY', ownerId: listOwnerId }
  for (const item of packList(list, entries)) keep(item)
  const withText = entries.map((entry) => ({ ...entry, text: toSearchText(person(entry.userId)) }))
  for (const item of isIndexed ? packIndex(list, withText.sort(comparePositions)) : []) keep(item)
  const profile = (userId: number) => {
    const place = { joinedAt: 1, rootId: listOwnerId, depth: 1, upline: [listOwnerId] }
    return asStored({ ...newProfileItem({ userId, ...person(userId), ...place }), chunk: 0 })
  }
  return ({ pk, sk }) => {
    const [, userId] = /^MEMBER#(\d+)$/.exec(pk) ?? []
    return userId === undefined ? stored.get(`${pk} ${sk}`) : profile(Number(userId))
  }
}
