import * as v from 'valibot'
import { addToSums } from '../../db/exact-sum.ts'
import { readItems } from '../../db/read.ts'
import { Integer } from '../../db/table.ts'
import type { Write } from '../../db/write.ts'
import { type Big, zero } from '../../money.ts'
import type { ListedMember, MemberList } from '../list/node.ts'
import { CountedBTree } from '../list/tree.ts'
import { profileKey } from '../profile.ts'
import type { AncestorUpdate } from './batch.ts'

/** A transaction that adds new members to an ancestor's lists, and raises the ancestor's sums. */
interface PreparedGrowth {
  writes: Write[]
  rest: AncestorUpdate | undefined
}

/**
 * If a transaction changes more B-tree nodes than this, no further member is added to it. The last member can
 * change 12 more nodes. With the profile, that is still below DynamoDB's limit of 100 writes.
 */
const maxChangedNodes = 85

/**
 * Prepares a transaction for an ancestor: as much of the ancestor's update as fits into one transaction. A
 * node of a list's B-tree has at most `capacity` entries.
 */
export async function prepareGrowth(
  update: AncestorUpdate,
  batch: number,
  capacity: number,
): Promise<PreparedGrowth> {
  const { ownerId, team, done, directs } = update
  const waiting = team.slice(done)
  const newDirects = waiting.filter((member) => directs.has(member))
  const lists = await Promise.all([
    ...(waiting.length > 0 ? [openList({ kind: 'COMMUNITY', ownerId }, waiting, capacity)] : []),
    ...(newDirects.length > 0 ? [openList({ kind: 'DIRECT', ownerId }, newDirects, capacity)] : []),
  ])
  const inserted = new Set<ListedMember>()
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
  return {
    writes: [sums, ...lists.flatMap(({ tree }) => tree.writes())],
    rest: to < team.length ? { ...update, done: to } : undefined,
  }
}

/** Reads what is needed to add members to a list. */
async function openList(list: MemberList, members: readonly ListedMember[], capacity: number) {
  const tree = await CountedBTree.open(list, capacity)
  await tree.prefetch(members)
  return { tree, members: new Set(members) }
}

/** Prepares a transaction that gives renamed members of a list their new texts. */
export async function prepareRename(
  list: MemberList,
  members: readonly ListedMember[],
  capacity: number,
): Promise<Write[]> {
  const { tree } = await openList(list, members, capacity)
  for (const member of members) await tree.rename(member)
  return tree.writes()
}

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
      UpdateExpression: `${Update.UpdateExpression} SET grownBatch = :batch, grownMembers = :to`,
      ConditionExpression:
        done === 0
          ? 'attribute_not_exists(grownBatch) OR grownBatch < :batch'
          : 'grownBatch = :batch AND grownMembers = :done',
      ExpressionAttributeValues: {
        ...Update.ExpressionAttributeValues,
        ':batch': batch,
        ':to': done + members,
        ...(done > 0 && { ':done': done }),
      },
    },
  }
}

/**
 * How far an ancestor has grown, in the ancestor's profile: the lists have the new members of all batches
 * before `grownBatch`, and the first `grownMembers` new members of that batch. Both only rise, so nothing is
 * added twice.
 */
const Grown = v.object({ grownBatch: v.optional(Integer), grownMembers: v.optional(Integer) })

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
    const { grownBatch = 0, grownMembers = 0 } = v.parse(Grown, items[i] ?? {})
    if (grownBatch < batch) return update
    return grownMembers < update.team.length ? { ...update, done: grownMembers } : []
  })
}
