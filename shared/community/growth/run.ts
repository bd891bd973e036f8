import { readTogether } from '../../db/read.ts'
import { maxTransactionWrites, transact, type Write, writeItem } from '../../db/write.ts'
import { OptimisticLockError } from '../../errors.ts'
import { forEachConcurrently } from '../../for-each-concurrently.ts'
import { retry } from '../../retry.ts'
import { type MemberList, nodeCapacity } from '../list/node.ts'
import { maintainIndex } from '../search/index/maintain.ts'
import { replaceTexts } from '../search/index/rename.ts'
import { standardLimits } from '../search/index/tail.ts'
import { prepareGrowth, type Storage, withoutDone } from './ancestor.ts'
import {
  type AncestorUpdate,
  maxBatchEntries,
  packGroups,
  planGrowth,
  planRenames,
  readBatch,
  selectBatch,
} from './batch.ts'
import { deleteJournalEntry, nextHead, readHead, readJournal, replaceHead } from './journal.ts'

/**
 * Adds each entry in a referral tree's journal to all ancestors of its member: to their lists, search
 * indexes, counts and sums. Each entry takes effect exactly once at each ancestor, at any depth, with any
 * number of workers at the same time and after any interruption. After each batch, reorganizes search indexes
 * with many new members. Resolves with `unfinished` at the deadline (epoch milliseconds): call growTree
 * again. Throws OptimisticLockError when other workers keep writing the same tree.
 */
export const growTree = (
  rootId: number,
  deadline: number,
  storage: Storage = { capacity: nodeCapacity, limits: standardLimits },
): Promise<'finished' | 'unfinished'> =>
  // Parallel reads of single items share one BatchGetItem call.
  readTogether(async () => {
    while (Date.now() < deadline) {
      const due = await retry(
        () => addBatch(rootId, deadline, storage),
        (error) => error instanceof OptimisticLockError,
      )
      if (due === undefined) return 'finished'
      // If no time is left, a list's segment is made after the next batch that adds members to the list.
      for (const list of due) if (Date.now() < deadline) await maintainIndex(rootId, list, storage.limits)
    }
    return 'unfinished'
  })

/**
 * Adds one batch of journal entries: the batch that an earlier run has left open, otherwise the oldest
 * entries. A batch is open while the tree's head (the worker's progress) names its entries. Each ancestor's
 * profile records how much of the batch the ancestor has, so no second worker can repeat a transaction. At
 * the end, the entries are deleted and the batch is closed. Stops at the deadline. Resolves with the lists
 * that need maintainIndex; with undefined if there was nothing to add.
 */
async function addBatch(
  rootId: number,
  deadline: number,
  storage: Storage,
): Promise<MemberList[] | undefined> {
  const stored = await readHead(rootId)
  const entries = stored.open ?? selectBatch(await readJournal(rootId, maxBatchEntries))
  if (entries.length === 0) return undefined
  const batch = await readBatch(entries)
  await replaceTexts(planRenames(batch))
  const head = stored.open ? stored : nextHead(stored, entries)
  let waiting = planGrowth(batch)
  if (stored.open) waiting = await withoutDone(waiting, head.version)
  else await writeItem(replaceHead(rootId, stored, head))
  const due = new Map<string, MemberList>()
  while (waiting.length > 0) {
    const unfinished: AncestorUpdate[] = []
    for (let start = 0; start < waiting.length; start += preparedTogether) {
      if (Date.now() >= deadline) return []
      const some = waiting.slice(start, start + preparedTogether)
      const prepared = await Promise.all(some.map((update) => prepareGrowth(update, head.version, storage)))
      await transactAll(prepared.map(({ writes }) => writes))
      for (const list of prepared.flatMap((growth) => growth.due))
        due.set(`${list.kind} ${list.ownerId}`, list)
      unfinished.push(...prepared.flatMap(({ rest }) => rest ?? []))
    }
    waiting = unfinished
  }
  await transactAll(entries.map((entry) => [deleteJournalEntry(rootId, entry)]))
  await writeItem(replaceHead(rootId, head, nextHead(head)))
  return [...due.values()]
}

/** How many ancestors are updated at a time: those of a deep referral tree might not all fit in memory. */
const preparedTogether = 1_000

/** How many transactions of a batch are under way at a time: each has up to 100 writes. */
const transactionConcurrency = 4

/** Performs groups of writes, each group within one transaction; the transactions run in any order. */
const transactAll = (groups: readonly Write[][]): Promise<void> =>
  forEachConcurrently(packGroups(groups, maxTransactionWrites), transactionConcurrency, transact)
