import * as v from 'valibot'
import { addToSums } from '../../db/exact-sum.ts'
import { readItems } from '../../db/read.ts'
import { Integer } from '../../db/table.ts'
import type { Write } from '../../db/write.ts'
import { type Big, zero } from '../../money.ts'
import type { MemberList } from '../list/node.ts'
import { CountedBTree } from '../list/tree.ts'
import { profileKey } from '../profile.ts'
import type { IndexedMember } from '../search/index/items.ts'
import { type IndexLimits, openTail } from '../search/index/tail.ts'
import type { AncestorUpdate } from './batch.ts'

/** Limits of a member list's B-tree (`capacity` entries in a node) and of its search index (`limits`). */
export interface Storage {
  capacity: number
  limits: IndexLimits
}

/** A transaction that adds new members to an ancestor's lists, and raises the ancestor's sums. */
interface PreparedGrowth {
  writes: Write[]
  rest: AncestorUpdate | undefined
  /** The lists whose search index now has so many new members that maintainIndex should reorganize it. */
  due: MemberList[]
}

/**
 * If a transaction changes more B-tree nodes than this, no further member is added to it. The last member can
 * change 12 more nodes. With 1 profile and 12 items of search indexes, DynamoDB's limit of 100 writes is
 * reached.
 */
const maxChangedNodes = 75

/** Prepares a transaction for an ancestor: as much of the ancestor's update as fits into one transaction. */
export async function prepareGrowth(
  update: AncestorUpdate,
  batch: number,
  storage: Storage,
): Promise<PreparedGrowth> {
  const { ownerId, team, done, directs } = update
  const waiting = team.slice(done)
  const newDirects = waiting.filter((member) => directs.has(member))
  const lists = await Promise.all([
    ...(waiting.length > 0 ? [openList({ kind: 'COMMUNITY', ownerId }, waiting, storage)] : []),
    ...(newDirects.length > 0 ? [openList({ kind: 'DIRECT', ownerId }, newDirects, storage)] : []),
  ])
  const inserted = new Set<IndexedMember>()
  for (const member of waiting) {
    if (lists.reduce((sum, { tree }) => sum + tree.changedNodes, 0) > maxChangedNodes) break
    for (const { tree, members } of lists) if (members.has(member)) await tree.insert(member)
    inserted.add(member)
  }
  const to = done + inserted.size
  const sums = addToAncestor(update, batch, {
    directs: newDirects.filter((member) => inserted.has(member)).length,
    members: inserted.size,
    performance: done === 0 ? update.performance : zero,
  })
  const growth: PreparedGrowth = {
    writes: [sums],
    rest: to < team.length ? { ...update, done: to } : undefined,
    due: [],
  }
  for (const { list, tree, members, append } of lists) {
    const newMembers = [...members].filter((member) => inserted.has(member))
    if (newMembers.length === 0) continue
    const { writes, isLong } = append(newMembers)
    growth.writes.push(...tree.writes(), ...writes)
    if (isLong) growth.due.push(list)
  }
  return growth
}

/** Reads what is needed to add members both to a list and to the tail (newest part) of its search index. */
async function openList(list: MemberList, members: readonly IndexedMember[], { capacity, limits }: Storage) {
  const tree = await CountedBTree.open(list, capacity)
  const [append] = await Promise.all([
    openTail(list, tree.count, members.length, limits),
    tree.prefetch(members),
  ])
  return { list, tree, members: new Set(members), append }
}

/**
 * Computes `grown`, a number in an ancestor's profile. The number means: the ancestor's lists contain the new
 * members of all earlier batches, and the first `members` new members of this `batch`. `grown` only rises, so
 * nothing is added twice.
 */
const grownBy = (batch: number, members: number): number => batch * 1_000 + members

/** The write that adds to an ancestor's sums. It fails if this part of the batch has already been added. */
function addToAncestor(
  { ownerId, done }: AncestorUpdate,
  batch: number,
  { directs, members, performance }: { directs: number; members: number; performance: Big },
): Write {
  const additions = { teamPerformance: performance, directCount: directs, teamCount: members }
  const { Update } = addToSums(profileKey(ownerId), additions)
  return {
    Update: {
      ...Update,
      UpdateExpression: `${Update.UpdateExpression} SET #grown = :to`,
      ConditionExpression: done === 0 ? 'attribute_not_exists(#grown) OR #grown < :from' : '#grown = :from',
      ExpressionAttributeNames: { ...Update.ExpressionAttributeNames, '#grown': 'grown' },
      ExpressionAttributeValues: {
        ...Update.ExpressionAttributeValues,
        ':from': grownBy(batch, done),
        ':to': grownBy(batch, done + members),
      },
    },
  }
}

/** Leaves out what an earlier run has already added to the ancestors. */
export async function withoutDone(
  updates: readonly AncestorUpdate[],
  batch: number,
): Promise<AncestorUpdate[]> {
  const items = await readItems(
    updates.map(({ ownerId }) => profileKey(ownerId)),
    { consistent: true },
  )
  return updates.flatMap((update, i) => {
    const grown = v.parse(v.optional(Integer), items[i]?.['grown']) ?? 0
    const done = grown - grownBy(batch, 0)
    if (done < 0) return update
    return done < update.team.length ? { ...update, done } : []
  })
}
