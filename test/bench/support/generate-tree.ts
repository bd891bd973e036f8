import { chunkItem, maxChunk, packTexts } from '../../../shared/community/search-chunks.ts'
import { type SearchText, toSearchText } from '../../../shared/community/keyword.ts'
import type { BTreeEntry } from '../../../shared/community/counted-b-tree/node.ts'
import { newProfileItem } from '../../../shared/community/member.ts'
import { placeBelow } from '../../../shared/community/membership.ts'
import { headItem, newHead } from '../../../shared/community/tree-head.ts'
import type { Item } from '../../../shared/db/table.ts'
import { normalizeEmail } from '../../../shared/users/identity.ts'
import { claimEmail } from '../../../shared/users/user.ts'
import { inventPerson } from './invent-person.ts'
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
  chunk: number
}

/** When the first member of the generated tree joins, and the time between two members, in milliseconds. */
export const firstJoined = Date.UTC(2024, 0, 1)
export const joinedEvery = 600_000

/** Generates a random tree of members with user ids from 1, the root first. Its maximum depth is `depth`. */
export function generateTree(size: number, depth: number): GeneratedMember[] {
  const members: GeneratedMember[] = []
  const nextChunk = chunkCounter()
  for (let i = 0; i < size; i += 1) {
    let parent = i <= depth ? i - 1 : Math.floor(Math.random() * i)
    while (i > depth && (members[parent]?.depth ?? 0) >= depth) parent = Math.floor(Math.random() * i)
    const above = members[parent]
    members.push({
      userId: i + 1,
      ...inventPerson(i),
      joinedAt: firstJoined + i * joinedEvery,
      parent: above === undefined ? undefined : parent,
      chunk: i === 0 ? 0 : nextChunk(i, inventPerson(i)),
      ...(above === undefined ? { rootId: 1, depth: 0, upline: [] } : placeBelow(above)),
    })
  }
  return members
}

/** Assigns search chunks to members one after another, and closes each where the worker would. */
function chunkCounter() {
  let chunk = 0
  let texts = new Map<number, SearchText>()
  return (userId: number, member: { nickname: string; email: string }): number => {
    const isMeasured = texts.size >= 150 && texts.size % 12 === 0
    const isFull = isMeasured && packTexts(texts).length >= maxChunk.bytes
    if (isFull || texts.size >= maxChunk.texts) {
      chunk += 1
      texts = new Map()
    }
    texts.set(userId, toSearchText(member))
    return chunk
  }
}

/** Generates all items of a tree, in their state after the events of all members. */
export function* treeItems(members: readonly GeneratedMember[]): Generator<Item> {
  const directs = new Map<number, BTreeEntry[]>()
  const teams = new Map<number, BTreeEntry[]>()
  const texts = new Map<number, Map<number, SearchText>>()
  const add = <T>(lists: Map<number, T[]>, key: number, value: T) =>
    lists.get(key)?.push(value) ?? lists.set(key, [value])
  for (const { userId, joinedAt, chunk, parent, nickname, email } of members) {
    const entry = { userId, joinedAt, chunk }
    if (parent === undefined) continue
    add(directs, parent, entry)
    for (let at: number | undefined = parent; at !== undefined; at = members[at]?.parent)
      add(teams, at, entry)
    const chunkTexts = texts.get(chunk) ?? new Map<number, SearchText>()
    texts.set(chunk, chunkTexts.set(userId, toSearchText({ nickname, email })))
  }
  for (const [i, member] of members.entries()) {
    yield {
      ...newProfileItem(member),
      ...(member.parent === undefined ? {} : { chunk: member.chunk }),
      direct_count: directs.get(i)?.length ?? 0,
      team_count: teams.get(i)?.length ?? 0,
    }
    yield claimEmail(normalizeEmail(member.email), member.userId).Put?.Item ?? {}
    yield* packList({ kind: 'DIRECT', ownerId: member.userId }, directs.get(i) ?? [])
    yield* packList({ kind: 'COMMUNITY', ownerId: member.userId }, teams.get(i) ?? [])
  }
  for (const [chunk, chunkTexts] of texts) yield chunkItem(1, chunk, { version: 1, texts: chunkTexts })
  yield headItem(1, { ...newHead, version: 1, chunks: texts.size })
}
