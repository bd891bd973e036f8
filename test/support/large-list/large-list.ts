import {
  comparePositions,
  type ListedMember,
  type MemberList,
  toListed,
} from '../../../shared/community/list/node.ts'
import { newProfileItem } from '../../../shared/community/profile.ts'
import type { Item, Key } from '../../../shared/db/table.ts'
import { inventPerson } from './invent-person.ts'
import { packList } from './pack-list.ts'
import { asStored } from '../as-stored.ts'

type Person = ReturnType<typeof inventPerson>

/** The user id of the list's owner. The members of the list have the user ids that follow in sequence. */
export const listOwnerId = 1

/** Finds an item by its key. Returns it in the form in which the table returns it. */
export type FindItem = (key: Key) => Item | undefined

/**
 * Invents a downline of `size` members and keeps its items in memory: writing them to DynamoDB Local would
 * take too long. Returns a function that finds an item.
 */
export function largeList(size: number, person: (number: number) => Person = inventPerson): FindItem {
  const stored = new Map<string, Item>()
  const keep = (item: Item & Partial<Key>) => stored.set(`${item.pk ?? ''} ${item.sk ?? ''}`, asStored(item))
  const members = Array.from({ length: size }, (_, i): ListedMember => {
    const userId = listOwnerId + 1 + i
    const joinedAt = Date.UTC(2024, 0, 1) + i * 30_000 + ((i * 7_919) % 29_989)
    return toListed({ userId, joinedAt, ...person(userId) })
  }).sort(comparePositions)
  const list: MemberList = { kind: 'COMMUNITY', ownerId: listOwnerId }
  for (const item of packList(list, members)) keep(item)
  const profile = (userId: number) => {
    const place = { joinedAt: 1, rootId: listOwnerId, depth: 1, upline: [listOwnerId] }
    return asStored(newProfileItem({ userId, ...person(userId), ...place }))
  }
  return ({ pk, sk }) => {
    const [, userId] = /^MEMBER#(\d+)$/.exec(pk) ?? []
    return userId === undefined ? stored.get(`${pk} ${sk}`) : profile(Number(userId))
  }
}
