import { readItems } from '../../db/read.ts'
import type { Item } from '../../db/table.ts'
import { transact, type Write, writeItem } from '../../db/write.ts'
import { forEachConcurrently } from '../../for-each-concurrently.ts'
import { comparePositions, type MemberList, rootKey } from '../counted-b-tree/node.ts'
import { readRange } from '../counted-b-tree/read-range.ts'
import type { SearchText } from '../keyword.ts'
import { readSearchTexts } from '../search-chunks.ts'
import type { IndexLimits } from './append-members.ts'
import {
  emptyIndex,
  putNextIndex,
  readIndex,
  type SearchIndex,
  type Segment,
  segmentKeys,
  segmentMembersKeys,
  tailKeys,
} from './index-head.ts'
import { type IndexedMember, unpackMembers } from './members-item.ts'
import { prepareSegment } from './prepare-segment.ts'

/**
 * Does one piece of the work that is due on a list's search index: adds members who joined before it was
 * made, or turns its tail into a segment. On the way it writes only what no search reads yet. Its last
 * transaction makes that count, together with the write of `guard`, which gets whether more is due; its
 * condition fails if the tree has changed since. It may be called again after any interruption.
 */
export async function maintainIndex(
  rootId: number,
  list: MemberList,
  guard: (isDue: boolean) => Write,
  limits: IndexLimits,
): Promise<void> {
  const index = await deleteLeftovers(list, (await readIndex(list)) ?? emptyIndex(undefined))
  const work =
    index.backfilled === undefined
      ? await takeTail(list, index, limits)
      : await takeEarlier(rootId, list, index, limits)
  if (work === undefined) return transact([guard(false)])
  const { claimed, segments } = await writeSegments(list, index, work.members, limits.segment)
  const { version, nextId } = claimed
  const next = { ...work.next, segments: [...work.next.segments, ...segments], version, nextId }
  await transact([guard(next.backfilled !== undefined), putNextIndex(list, next)])
  await deleteLeftovers(list, { ...next, version: version + 1 })
}

/** Members that become segments, sorted by position, and the index without what these replace. */
interface Work {
  members: IndexedMember[]
  next: SearchIndex
}

/** Takes the tail, and the small segments when there are many; undefined if the tail is short. */
async function takeTail(
  list: MemberList,
  index: SearchIndex,
  limits: IndexLimits,
): Promise<Work | undefined> {
  const { tail, segments } = index
  if (tail.to - tail.from < limits.tailItems) return undefined
  const small = segments.filter(({ size }) => size < limits.smallSegment)
  const merged = small.length >= limits.smallSegments ? small : []
  const keys = [...tailKeys(list, tail), ...merged.flatMap((segment) => segmentMembersKeys(list, segment))]
  return {
    members: (await readMembersAt(keys)).sort(comparePositions),
    next: {
      ...index,
      segments: segments.filter((segment) => !merged.includes(segment)),
      tail: { from: tail.to, to: tail.to },
      leftovers: { segments: merged, tail },
    },
  }
}

/** Takes the next members of the list who joined before it had an index. Those in its tail joined later. */
async function takeEarlier(
  rootId: number,
  list: MemberList,
  index: SearchIndex,
  limits: IndexLimits,
): Promise<Work> {
  const { backfilled, tail } = index
  const inTail = new Set((await readMembersAt(tailKeys(list, tail))).map(({ userId }) => userId))
  const from = backfilled && { ...backfilled, userId: backfilled.userId + 1 }
  const [root] = await readItems([rootKey(list)], { consistent: true })
  const { total } = await readRange(list, root, { from, skip: 0, take: 0, consistent: true })
  const take = limits.segment + inTail.size
  const window = { from, skip: Math.max(0, total - take), take, consistent: true }
  const { entries } = await readRange(list, root, window)
  const earlier = entries
    .reverse()
    .filter(({ userId }) => !inTail.has(userId))
    .slice(0, limits.segment)
  const texts = await readSearchTexts(rootId, earlier)
  return {
    members: earlier.map(({ userId, joinedAt }, i) => ({ userId, joinedAt, text: texts[i] as SearchText })),
    next: { ...index, backfilled: earlier.length < limits.segment ? undefined : earlier.at(-1) },
  }
}

/** Writes the items of new segments. The index claims their ids before, so that none is used twice. */
async function writeSegments(
  list: MemberList,
  index: SearchIndex,
  members: readonly IndexedMember[],
  maxSize: number,
): Promise<{ claimed: SearchIndex; segments: Segment[] }> {
  let claimed = index
  const segments: Segment[] = []
  for (let start = 0; start < members.length; start += maxSize) {
    const part = members.slice(start, start + maxSize)
    const { segment, items } = prepareSegment(list, claimed.nextId, part)
    segments.push(segment)
    const { id, size, bits } = segment
    const leftovers = { ...claimed.leftovers, segments: [...claimed.leftovers.segments, { id, size, bits }] }
    claimed = await putIndex(list, { ...claimed, nextId: id + 1, leftovers })
    await writeAll(puts(items()))
  }
  return { claimed, segments }
}

function* puts(items: Iterable<Item>): Generator<Write> {
  for (const item of items) yield { Put: { Item: item } }
}

/** Deletes the items that no search reads any more. */
async function deleteLeftovers(list: MemberList, index: SearchIndex): Promise<SearchIndex> {
  const { segments, tail } = index.leftovers
  const keys = [...tailKeys(list, tail), ...segments.flatMap((segment) => segmentKeys(list, segment))]
  if (keys.length === 0) return index
  await writeAll(keys.map((Key) => ({ Delete: { Key } })))
  return putIndex(list, { ...index, leftovers: { segments: [], tail: { from: 0, to: 0 } } })
}

async function putIndex(list: MemberList, index: SearchIndex): Promise<SearchIndex> {
  await writeItem(putNextIndex(list, index))
  return { ...index, version: index.version + 1 }
}

const readMembersAt = async (keys: Parameters<typeof readItems>[0]): Promise<IndexedMember[]> =>
  (await readItems(keys, { consistent: true })).flatMap((item) => unpackMembers(item).members)

/**
 * How many items are written at a time: a tree that grows by 500 members a second needs 1,300 calls a
 * second.
 */
const writeConcurrency = 16

const writeAll = (writes: Iterable<Write>): Promise<void> =>
  forEachConcurrently(writes, writeConcurrency, (write) => writeItem(write))
