import { maxTransactionWrites, transact, type Write, writeItem } from '../../db/write.ts'
import { OptimisticLockError } from '../../errors.ts'
import { forEachConcurrently } from '../../for-each-concurrently.ts'
import { retry } from '../../retry.ts'
import { type MemberList, standardCapacity } from '../list/node.ts'
import { maintainIndex } from '../search/index/maintain.ts'
import { replaceTexts } from '../search/index/rename.ts'
import { standardLimits } from '../search/index/tail.ts'
import { prepareGrowth, type Storage, withoutDone } from './ancestor.ts'
import { batchReader, readBatch } from './batch.ts'
import { nextHead, readHead, replaceHead, type TreeHead } from './head.ts'
import { deleteJournalEntry, type JournalEntry, readJournal } from './journal.ts'
import {
  type AncestorUpdate,
  maxBatchEntries,
  packGroups,
  planGrowth,
  planRenames,
  selectBatch,
  sortBatch,
} from './plan.ts'

/**
 * Adds everything in a tree's journal to all ancestors: to their lists, search indexes, counts and sums. Each
 * entry takes effect exactly once at each ancestor, at any depth, with any number of workers at the same time
 * and after any interruption. After each batch it makes segments of the long tails of search indexes.
 * Resolves with `unfinished` if not all was done at the deadline (epoch milliseconds): call it again. Throws
 * OptimisticLockError when other workers keep writing the same tree.
 */
export async function growTree(
  rootId: number,
  deadline: number,
  storage: Omit<Storage, 'read'> = { capacity: standardCapacity, limits: standardLimits },
): Promise<'finished' | 'unfinished'> {
  while (Date.now() < deadline) {
    const { outcome, due } = await retry(
      () => addBatch(rootId, deadline, storage),
      (error) => error instanceof OptimisticLockError,
    )
    if (outcome === 'empty') return 'finished'
    // A list for which no time is left has its turn after the next newcomer.
    for (const list of due) if (Date.now() < deadline) await maintainIndex(rootId, list, storage.limits)
  }
  return 'unfinished'
}

/** What a step of the work has done, and the lists whose search indexes have a long tail. */
interface Step {
  outcome: 'empty' | 'added' | 'interrupted'
  due: MemberList[]
}

/**
 * Adds one batch: the open one if there is one, otherwise the oldest journal entries. One that fits into a
 * transaction is that transaction. Any other one is opened first, by a write of the tree's head: then each
 * ancestor gets it in a transaction that no second worker can repeat, because the ancestor's profile tells
 * how much of it is there; then its entries are deleted; at last it is closed. Stops at the deadline.
 */
async function addBatch(rootId: number, deadline: number, storage: Omit<Storage, 'read'>): Promise<Step> {
  const head = await readHead(rootId)
  const entries = head.open ?? selectBatch(await readJournal(rootId, maxBatchEntries))
  if (entries.length === 0) return { outcome: 'empty', due: [] }
  const read = batchReader()
  const batch = sortBatch(await readBatch(entries, read))
  await replaceTexts(planRenames(batch))
  const work = { rootId, head, entries, updates: planGrowth(batch) }
  const due = head.open === undefined ? await writeAtOnce(work, { ...storage, read }) : undefined
  return due === undefined ? writeInParts(work, deadline, { ...storage, read }) : { outcome: 'added', due }
}

/** A batch, and the tree's head as it was read. */
interface Work {
  rootId: number
  head: TreeHead
  entries: JournalEntry[]
  updates: readonly AncestorUpdate[]
}

/** Writes a batch in one transaction, if that has room for it; then resolves with the long tails. */
async function writeAtOnce(
  { rootId, head, entries, updates }: Work,
  storage: Storage,
): Promise<MemberList[] | undefined> {
  if (1 + entries.length + updates.length > maxTransactionWrites) return undefined
  const next = nextHead(head)
  const prepared = await Promise.all(updates.map((update) => prepareGrowth(update, next.version, storage)))
  const writes = [
    replaceHead(rootId, head, next),
    ...entries.map((entry) => deleteJournalEntry(rootId, entry)),
    ...prepared.flatMap((growth) => growth.writes),
  ]
  const isWhole = prepared.every(({ rest }) => rest === undefined)
  if (!isWhole || writes.length > maxTransactionWrites) return undefined
  await transact(writes)
  return prepared.flatMap(({ due }) => due)
}

/** How many ancestors of a deep tree are prepared at a time, which bounds the memory that they take. */
const preparedTogether = 1_000

/** Writes a batch in several transactions, or the rest of an open one. */
async function writeInParts(
  { rootId, head, entries, updates }: Work,
  deadline: number,
  storage: Storage,
): Promise<Step> {
  const isOpen = head.open !== undefined
  const begun = isOpen ? head : nextHead(head, entries)
  if (!isOpen) await writeItem(replaceHead(rootId, head, begun))
  const due = new Map<string, MemberList>()
  let waiting = isOpen ? await withoutDone(updates, begun.version) : updates
  for (let { read } = storage; waiting.length > 0; read = batchReader()) {
    const unfinished: AncestorUpdate[] = []
    for (let start = 0; start < waiting.length; start += preparedTogether) {
      if (Date.now() >= deadline) return { outcome: 'interrupted', due: [] }
      const prepared = await Promise.all(
        waiting
          .slice(start, start + preparedTogether)
          .map((update) => prepareGrowth(update, begun.version, { ...storage, read })),
      )
      await transactAll(prepared.map(({ writes }) => writes))
      for (const list of prepared.flatMap((growth) => growth.due))
        due.set(`${list.kind} ${list.ownerId}`, list)
      unfinished.push(...prepared.flatMap(({ rest }) => rest ?? []))
    }
    waiting = unfinished
  }
  await transactAll(entries.map((entry) => [deleteJournalEntry(rootId, entry)]))
  await writeItem(replaceHead(rootId, begun, nextHead(begun)))
  return { outcome: 'added', due: [...due.values()] }
}

/** How many transactions of a batch are under way at a time: each has up to 100 writes. */
const transactionConcurrency = 4

/** Writes groups of writes, each in one transaction, in any order. */
const transactAll = (groups: readonly Write[][]): Promise<void> =>
  forEachConcurrently(packGroups(groups, maxTransactionWrites), transactionConcurrency, transact)
