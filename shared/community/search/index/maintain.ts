import { readItems } from '../../../db/read.ts'
import type { Key } from '../../../db/table.ts'
import { transact, writeItem } from '../../../db/write.ts'
import { forEachConcurrently } from '../../../for-each-concurrently.ts'
import { nextHead, readHead, replaceHead } from '../../growth/journal.ts'
import { comparePositions, type MemberList } from '../../list/node.ts'
import {
  blockKeys,
  type IndexedMember,
  indexKey,
  membersPerItem,
  putNextIndex,
  segmentMembersKeys,
  tailKeys,
  toIndex,
  unpackMembers,
} from './items.ts'
import { prepareSegment } from './segment.ts'
import type { IndexLimits } from './tail.ts'

/**
 * Moves the members of a list's search index from the tail into a new segment, once the tail is long. Merges
 * it with the newest existing segment if both fit into one. A search sees the change only after the last
 * transaction, which fails if the referral tree or the index has changed. After an interruption, call this
 * again.
 */
export async function maintainIndex(rootId: number, list: MemberList, limits: IndexLimits): Promise<void> {
  const head = await readHead(rootId)
  const index = toIndex((await readItems([indexKey(list)], { consistent: true }))[0])
  // Leave the index alone while a batch is open: the batch may still add members to the tail, and the
  // transaction below would lose them.
  if (head.open !== undefined || index === undefined) return
  const { tail, segments, replaced } = index
  if (tail.to - tail.from < limits.tailItems) return
  const unread = [
    ...tailKeys(list, replaced.tail),
    ...replaced.segments.flatMap((old) => [...segmentMembersKeys(list, old), ...blockKeys(list, old)]),
  ]
  await forEachConcurrently(unread, writeConcurrency, (Key) => writeItem({ Delete: { Key } }))

  const most = Math.max(1, Math.floor(limits.segment / membersPerItem))
  const taken = { from: tail.from, to: Math.min(tail.to, tail.from + most) }
  const newcomers = await readMembersAt(tailKeys(list, taken))
  const merged = segments.slice(-1).filter(({ size }) => size + newcomers.length <= limits.segment)
  const earlier = await readMembersAt(merged.flatMap((old) => segmentMembersKeys(list, old)))
  const members = [...earlier, ...newcomers].sort(comparePositions)
  const prepared = prepareSegment(list, crypto.randomUUID().slice(0, 8), members)
  await forEachConcurrently(prepared.items(), writeConcurrency, (Item) => writeItem({ Put: { Item } }))
  const next = {
    ...index,
    segments: [...segments.slice(0, segments.length - merged.length), prepared.segment],
    tail: { from: taken.to, to: tail.to },
    replaced: { segments: merged.map(({ id, size, bits }) => ({ id, size, bits })), tail: taken },
  }
  await transact([replaceHead(rootId, head, nextHead(head)), putNextIndex(list, next)])
}

const readMembersAt = async (keys: readonly Key[]): Promise<IndexedMember[]> =>
  (await readItems(keys, { consistent: true })).flatMap((item) => unpackMembers(item).members)

/** Maximum number of simultaneous writes: enough to keep up with 200 new members a second. */
const writeConcurrency = 16
