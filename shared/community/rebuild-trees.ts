import { isDeepStrictEqual } from 'node:util'
import { keyText } from '../db/read.ts'
import { asStored, type Item } from '../db/table.ts'
import type { Change } from '../db/write.ts'
import { zero } from '../money.ts'
import { assignSearchChunks, openChunkKey } from './assign-search-chunks.ts'
import { CountedBTree, readWholeList } from './counted-b-tree/counted-b-tree.ts'
import { comparePositions, type MemberList, rootKey, standardCapacity } from './counted-b-tree/node.ts'
import { type Profile, toProfile, withDerivedFields } from './member.ts'
import { chunkKey, rebuildChunk } from './search-chunks.ts'
import { soundIndex } from './search-index/sound-index.ts'
import { closeBatch, headItem, headKey, toHead } from './tree-head.ts'

/** Items by their keys. */
type Items = ReadonlyMap<string, Item>
/** The members of one tree by user id. */
type Members = ReadonlyMap<number, Profile>
/** The search chunk of each member of a tree. */
type Chunks = ReadonlyMap<number, number | undefined>

/**
 * The changes after which all that the worker derives from the profiles of members follows from them: lists,
 * counts, sums and search chunks. They finish the worker's work, so no journal entry is left. A search index
 * that is not sound is deleted, and the worker makes it anew. For a restored table, which may have a part of
 * the worker's transactions. `derived` are all items of the partitions of lists, search chunks, search
 * indexes and trees. Everything is held in memory.
 */
export async function rebuildTrees(profiles: readonly Item[], derived: readonly Item[]): Promise<Change[]> {
  const stored = new Map(derived.map((item) => [keyText(item), item]))
  const after = new Map<string, Item>()
  const changes: Change[] = []
  const parsed = profiles.map((item) => ({ item, profile: toProfile(item) }))
  for (const [rootId, tree] of Map.groupBy(parsed, ({ profile }) => profile.rootId)) {
    const members = new Map(tree.map(({ profile }) => [profile.userId, profile]))
    const { items, chunks } = await rebuildSearch(rootId, members, stored)
    for (const item of items) after.set(keyText(item), item)
    const children = Map.groupBy(members.values(), ({ upline }) => upline[0])
    for (const { item, profile } of tree) {
      const lists = listsOf(profile.userId, children)
      for (const { list, members: listed } of lists) {
        const nodes = await rebuildList(list, listed, chunks, stored)
        const index = soundIndex(list, listed, (key) => stored.get(keyText(key)))
        for (const kept of [...nodes, ...index]) after.set(keyText(kept), kept)
      }
      changes.push({ before: item, after: withDerivedFields(item, derive(profile, lists, chunks)) })
    }
  }
  for (const [name, before] of stored) changes.push({ before, after: after.get(name) })
  for (const [name, item] of after) if (!stored.has(name)) changes.push({ before: undefined, after: item })
  return changes.filter((change) => change.before !== change.after)
}

/** The items of a tree's search chunks and of its head, and the chunk of each member. */
async function rebuildSearch(rootId: number, members: Members, stored: Items) {
  const listed = [...members.values()].filter(({ depth }) => depth > 0)
  const items = new Map<string, Item>()
  const keep = (item: Item | undefined) => {
    if (item === undefined) return
    const name = keyText(item)
    items.set(name, item === stored.get(name) ? item : asStored(item))
  }
  for (const [chunk, named] of Map.groupBy(listed, ({ chunk }) => chunk))
    if (chunk !== undefined)
      keep(rebuildChunk(rootId, chunk, stored.get(keyText(chunkKey(rootId, chunk))), named))
  for (const userId of members.keys()) keep(stored.get(keyText(openChunkKey(userId))))
  const head = toHead(stored.get(keyText(headKey(rootId))))
  const used = listed.reduce((count, { chunk = -1 }) => Math.max(count, chunk + 1), head.chunks)
  const { sk: rootName } = rootKey({ kind: 'COMMUNITY', ownerId: rootId })
  const assignment = await assignSearchChunks(
    rootId,
    listed
      .filter(({ chunk }) => chunk === undefined)
      .map((profile) => ({ profile, ancestors: ancestorsOf(profile, members) })),
    used,
    async (key) => items.get(keyText(key)) ?? (key.sk === rootName ? stored.get(keyText(key)) : undefined),
  )
  for (const { Put } of assignment.turns.flat(2)) keep(Put?.Item)
  return {
    items: [...items.values(), ...rebuildHead(rootId, assignment.chunkCount, stored)],
    chunks: new Map([...members].map(([id, { chunk }]) => [id, chunk ?? assignment.chunkByUser.get(id)])),
  }
}

/** The ancestors of a member, the referrer first. Throws if one is missing. */
function ancestorsOf({ userId, upline }: Profile, members: Members): number[] {
  const ids: number[] = []
  for (let [id] = upline; id !== undefined;) {
    const ancestor = members.get(id)
    if (ancestor === undefined) throw new Error(`the ancestor ${id} of member ${userId} is missing`)
    ids.push(id)
    ;[id] = ancestor.upline
  }
  return ids
}

/** The head of a tree whose journal is empty; none for a member without a downline. */
function rebuildHead(rootId: number, chunks: number, stored: Items): Item[] {
  const item = stored.get(keyText(headKey(rootId)))
  const head = toHead(item)
  if (head.chunks === chunks && head.batch.length === 0) return item === undefined ? [] : [item]
  return [headItem(rootId, { ...closeBatch(head), version: head.version + 1, chunks })]
}

/** A member's two lists and who belongs into them. */
function listsOf(ownerId: number, children: ReadonlyMap<number | undefined, Profile[]>) {
  const directs = children.get(ownerId) ?? []
  const team = [...directs]
  // A loop, because a tree may be deeper than calls may be nested; it sees what it adds.
  for (const { userId } of team) for (const child of children.get(userId) ?? []) team.push(child)
  return [
    { list: { kind: 'DIRECT', ownerId }, members: directs },
    { list: { kind: 'COMMUNITY', ownerId }, members: team },
  ] satisfies { list: MemberList; members: Profile[] }[]
}

/** What a profile says of the member's lists. */
function derive({ userId }: Profile, [directs, team]: ReturnType<typeof listsOf>, chunks: Chunks) {
  return {
    chunk: chunks.get(userId),
    directCount: directs?.members.length ?? 0,
    teamCount: team?.members.length ?? 0,
    teamPerformance: (team?.members ?? []).reduce((sum, { packageAmount }) => sum.plus(packageAmount), zero),
  }
}

/** The items of a list with these members: the stored ones if they are right. */
async function rebuildList(
  list: MemberList,
  members: readonly Profile[],
  chunks: Chunks,
  stored: Items,
): Promise<Item[]> {
  const entries = members
    .map(({ userId, joinedAt }) => ({ userId, joinedAt, chunk: chunks.get(userId) ?? 0 }))
    .sort(comparePositions)
  const whole = await readWholeList(list, async (key) => stored.get(keyText(key)))
  if (whole !== undefined && isDeepStrictEqual(whole.entries, entries))
    return whole.keys.map((key) => stored.get(keyText(key))).filter((node) => node !== undefined)
  if (entries.length === 0) return []
  const tree = await CountedBTree.open(list, async () => undefined, standardCapacity)
  for (const entry of entries) await tree.insert(entry)
  return tree.writes().flatMap(({ Put }): Item[] => (Put?.Item === undefined ? [] : [Put.Item]))
}
