import type { Write } from '../db/write.ts'
import { zero } from '../money.ts'
import { CountedBTree, type ReadItem } from './counted-b-tree/counted-b-tree.ts'
import type { MemberList, NodeCapacity } from './counted-b-tree/node.ts'
import { addDownlineDelta } from './downline-growth.ts'
import { type AncestorUpdate, countMembers, type ListUpdate, type NewMember } from './propagation-plan.ts'
import { appendMembers, type IndexLimits } from './search-index/append-members.ts'

/** How lists and search indexes are stored, and how to read them. */
export interface Storage {
  capacity: NodeCapacity
  limits: IndexLimits
  read: ReadItem
}

/** Writes for one transaction that add to an ancestor. */
export interface PreparedGrowth {
  writes: Write[]
  /** What is then left to do, if not all new members fit. */
  rest: AncestorUpdate | undefined
  /** The lists whose search indexes are then to be maintained. */
  due: MemberList[]
}

/** Prepares a transaction of a batch that adds to an ancestor as much of an update as fits. */
export async function prepareGrowth(
  update: AncestorUpdate,
  batch: number,
  storage: Storage,
): Promise<PreparedGrowth> {
  const { ownerId, lists, done } = update
  const { writes, added, due } = await insertMembers(lists, done, storage)
  const [members = 0, directs = 0] = added
  const performance = done === 0 ? update.performance : zero
  const step = { batch, from: done, to: done + members }
  const sums = addDownlineDelta(ownerId, { members, directs, performance }, step)
  const rest = step.to < countMembers(update) ? { ...update, done: step.to } : undefined
  return { writes: [sums, ...writes], rest, due }
}

/**
 * Prepares the writes that insert new members into lists and their search indexes: into the first list all of
 * them from index `from` on, as many as fit into a transaction, and into another list those that it names.
 * `added` are their numbers.
 */
export async function insertMembers(
  lists: readonly ListUpdate[],
  from: number,
  { capacity, limits, read }: Storage,
): Promise<{ writes: Write[]; added: number[]; due: MemberList[] }> {
  const waiting = lists[0]?.newMembers.slice(from) ?? []
  if (waiting.length === 0) return { writes: [], added: [], due: [] }
  const growing = await Promise.all(
    lists.map(async ({ list, newMembers }): Promise<GrowingList> => {
      const tree = await CountedBTree.open(list, read, capacity)
      return { list, tree, count: tree.count, members: new Set(newMembers) }
    }),
  )
  const append = (newMembers: readonly NewMember[]) =>
    Promise.all(
      growing.map(({ list, count, members }) =>
        appendMembers(
          list,
          count,
          newMembers.filter((member) => members.has(member)),
          read,
          limits,
        ),
      ),
    )
  // Index and list are read at the same time, although not all members may fit.
  const [inserted, appendedAll] = await Promise.all([insertFitting(growing, waiting), append(waiting)])
  const appended = inserted.length === waiting.length ? appendedAll : await append(inserted)
  const results = growing.map(({ list, tree, members }, i) => {
    const added = inserted.filter((member) => members.has(member)).length
    const { writes = [], isDue = false } = appended[i] ?? {}
    return added === 0
      ? { added, writes: [], due: [] }
      : { added, writes: [...tree.writes(), ...writes], due: isDue ? [list] : [] }
  })
  return {
    writes: results.flatMap(({ writes }) => writes),
    added: results.map(({ added }) => added),
    due: results.flatMap(({ due }) => due),
  }
}

/** A list, its number of members before, and those of the batch that belong into it. */
interface GrowingList {
  list: MemberList
  tree: CountedBTree
  count: number
  members: ReadonlySet<NewMember>
}

/**
 * Another member is inserted after this many changed nodes. It changes twelve more at most in two lists, and
 * with the profile and five items of either search index a transaction of 100 writes has room for all.
 */
const maxChangedNodes = 76

/** How many members are inserted between two rounds of reads. */
const insertedTogether = 32

/** Inserts members into lists in memory, as many as fit into a transaction, and resolves with these. */
async function insertFitting(
  growing: readonly GrowingList[],
  waiting: readonly NewMember[],
): Promise<readonly NewMember[]> {
  for (let start = 0; start < waiting.length; start += insertedTogether) {
    const next = waiting.slice(start, start + insertedTogether)
    await Promise.all(
      growing.map(({ tree, members }) => tree.prefetch(next.filter((member) => members.has(member)))),
    )
    for (const [i, member] of next.entries()) {
      const changedNodes = growing.reduce((sum, { tree }) => sum + tree.changedNodes, 0)
      if (changedNodes > maxChangedNodes) return waiting.slice(0, start + i)
      for (const { tree, members } of growing) if (members.has(member)) await tree.insert(member)
    }
  }
  return waiting
}
