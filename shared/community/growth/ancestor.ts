import * as v from 'valibot'
import { addToSums } from '../../db/exact-sum.ts'
import { readItems } from '../../db/read.ts'
import { Integer } from '../../db/table.ts'
import type { Write } from '../../db/write.ts'
import { type Big, zero } from '../../money.ts'
import type { MemberList, NodeCapacity } from '../list/node.ts'
import { CountedBTree, type ReadItem } from '../list/tree.ts'
import { profileKey } from '../profile.ts'
import type { IndexedMember } from '../search/index/items.ts'
import { type IndexLimits, openTail } from '../search/index/tail.ts'
import type { AncestorUpdate } from './plan.ts'

/** How lists and search indexes are stored, and how to read them. */
export interface Storage {
  capacity: NodeCapacity
  limits: IndexLimits
  read: ReadItem
}

/** Writes for one transaction that add to an ancestor. */
interface PreparedGrowth {
  writes: Write[]
  /** What is then left to do, if not all new members fit. */
  rest: AncestorUpdate | undefined
  /** The lists whose search indexes have then a long tail. */
  due: MemberList[]
}

/**
 * Another member is inserted after this many changed nodes. It changes twelve more at most in two lists, and
 * with the profile and six items of either search index a transaction of 100 writes has room for all.
 */
const maxChangedNodes = 75

/** Prepares a transaction of a batch that adds to an ancestor as much of an update as fits. */
export async function prepareGrowth(
  update: AncestorUpdate,
  batch: number,
  storage: Storage,
): Promise<PreparedGrowth> {
  const { ownerId, team, done, directs } = update
  const waiting = team.slice(done)
  const lists = await Promise.all([
    openList({ kind: 'COMMUNITY', ownerId }, waiting, storage),
    openList(
      { kind: 'DIRECT', ownerId },
      waiting.filter((member) => directs.has(member)),
      storage,
    ),
  ])
  const inserted: IndexedMember[] = []
  for (const member of waiting) {
    if (lists.reduce((sum, { changedNodes }) => sum + changedNodes(), 0) > maxChangedNodes) break
    for (const list of lists) await list.insert(member)
    inserted.push(member)
  }
  const addition = {
    directs: inserted.filter((member) => directs.has(member)).length,
    members: inserted.length,
    performance: done === 0 ? update.performance : zero,
  }
  const to = done + inserted.length
  const sums = addToAncestor(ownerId, addition, { batch, from: done, to })
  const changes = lists.map((list) => list.changes())
  return {
    writes: [sums, ...changes.flatMap(({ writes }) => writes)],
    rest: to < team.length ? { ...update, done: to } : undefined,
    due: changes.flatMap(({ due }) => due),
  }
}

/** A list to which members are added, and its search index. Nothing is read or written if there are none. */
async function openList(list: MemberList, members: readonly IndexedMember[], storage: Storage) {
  const belonging = new Set(members)
  const inserted: IndexedMember[] = []
  const { tree, tail } = (members.length > 0 && (await readList(list, members, storage))) || {}
  return {
    changedNodes: () => tree?.changedNodes ?? 0,
    async insert(member: IndexedMember) {
      if (!belonging.has(member)) return
      await tree?.insert(member)
      inserted.push(member)
    },
    changes() {
      if (tree === undefined || tail === undefined || inserted.length === 0) return { writes: [], due: [] }
      const { writes, isLong } = tail(inserted)
      return { writes: [...tree.writes(), ...writes], due: isLong ? [list] : [] }
    },
  }
}

async function readList(
  list: MemberList,
  members: readonly IndexedMember[],
  { capacity, limits, read }: Storage,
) {
  const tree = await CountedBTree.open(list, read, capacity)
  const [tail] = await Promise.all([
    openTail(list, tree.count, members.length, read, limits),
    tree.prefetch(members),
  ])
  return { tree, tail }
}

/** What is added to an ancestor: direct referrals, members, and a package amount. */
interface Addition {
  directs: number
  members: number
  performance: Big
}

/**
 * How far a batch has been added to an ancestor: all of it up to some number of its new members. It is one
 * number in the ancestor's profile, `grown`, which rises with every batch, so nothing is added twice.
 */
interface GrowthStep {
  /** Number of the batch. */
  batch: number
  /** How many new members the ancestor had of this batch before; none and no purchase either if zero. */
  from: number
  to: number
}

/** A batch number is an instant: 2^53 allows a thousand members for each. */
const grownBy = (batch: number, members: number): number => batch * 1_000 + members

/** The write of an addition; its condition fails if the ancestor is not at the beginning of the step. */
function addToAncestor(
  userId: number,
  { directs, members, performance }: Addition,
  { batch, from, to }: GrowthStep,
): Write {
  const { Update } = addToSums(
    profileKey(userId),
    new Map([['team_performance', performance]]),
    new Map([
      ['direct_count', directs],
      ['team_count', members],
    ]),
  )
  return {
    Update: {
      ...Update,
      UpdateExpression: `${Update.UpdateExpression} SET #grown = :to`,
      ConditionExpression: from === 0 ? 'attribute_not_exists(#grown) OR #grown < :from' : '#grown = :from',
      ExpressionAttributeNames: { ...Update.ExpressionAttributeNames, '#grown': 'grown' },
      ExpressionAttributeValues: {
        ...Update.ExpressionAttributeValues,
        ':from': grownBy(batch, from),
        ':to': grownBy(batch, to),
      },
    },
  }
}

/** What is left to do of the updates of an open batch. Reads strongly consistent. */
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
