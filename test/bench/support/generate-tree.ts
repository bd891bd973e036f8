import { placeBelow } from '../../../shared/community/join.ts'
import { newProfileItem } from '../../../shared/community/profile.ts'
import { type IndexedMember, toIndexed } from '../../../shared/community/search/index/items.ts'
import { standardLimits } from '../../../shared/community/search/index/tail.ts'
import type { Item } from '../../../shared/db/table.ts'
import { normalizeEmail } from '../../../shared/users/identity.ts'
import { claimEmail } from '../../../shared/users/user.ts'
import { inventPerson } from './invent-person.ts'
import { packIndex } from './pack-index.ts'
import { packList } from './pack-list.ts'

interface GeneratedMember {
  userId: number
  nickname: string
  email: string
  joinedAt: number
  rootId: number
  depth: number
  upline: number[]
  parent: number | undefined
}

/** When the first member of the generated tree joins, and the time between two members, in milliseconds. */
export const firstJoined = Date.UTC(2024, 0, 1)
export const joinedEvery = 600_000

/** Generates a random tree of members with user ids from 1, the root first. Its maximum depth is `depth`. */
export function generateTree(size: number, depth: number): GeneratedMember[] {
  const members: GeneratedMember[] = []
  for (let i = 0; i < size; i += 1) {
    let parent = i <= depth ? i - 1 : Math.floor(Math.random() * i)
    while (i > depth && (members[parent]?.depth ?? 0) >= depth) parent = Math.floor(Math.random() * i)
    const above = members[parent]
    members.push({
      userId: i + 1,
      ...inventPerson(i),
      joinedAt: firstJoined + i * joinedEvery,
      parent: above === undefined ? undefined : parent,
      ...(above === undefined ? { rootId: 1, depth: 0, upline: [] } : placeBelow(above)),
    })
  }
  return members
}

/** Generates all items of a tree, in their state after the events of all members. */
export function* treeItems(members: readonly GeneratedMember[]): Generator<Item> {
  const directs = new Map<number, IndexedMember[]>()
  const teams = new Map<number, IndexedMember[]>()
  const add = <T>(lists: Map<number, T[]>, key: number, value: T) =>
    lists.get(key)?.push(value) ?? lists.set(key, [value])
  for (const member of members) {
    if (member.parent === undefined) continue
    const indexed = toIndexed(member)
    add(directs, member.parent, indexed)
    for (let at: number | undefined = member.parent; at !== undefined; at = members[at]?.parent)
      add(teams, at, indexed)
  }
  for (const [i, member] of members.entries()) {
    yield {
      ...newProfileItem(member),
      direct_count: directs.get(i)?.length ?? 0,
      team_count: teams.get(i)?.length ?? 0,
    }
    yield claimEmail(normalizeEmail(member.email), member.userId).Put?.Item ?? {}
    for (const [kind, lists] of [
      ['DIRECT', directs],
      ['COMMUNITY', teams],
    ] as const) {
      const listed = lists.get(i) ?? []
      const list = { kind, ownerId: member.userId }
      yield* packList(list, listed)
      if (listed.length >= standardLimits.minIndexed) yield* packIndex(list, listed)
    }
  }
}
