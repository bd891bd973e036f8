import { readTogether } from '../../db/read.ts'
import { maxTransactionWrites, transact, type Write, writeItem } from '../../db/write.ts'
import { OptimisticLockError } from '../../errors.ts'
import { forEachConcurrently } from '../../for-each-concurrently.ts'
import { retry } from '../../retry.ts'
import { nodeCapacity } from '../list/node.ts'
import { prepareGrowth, prepareRename, withoutDone } from './ancestor.ts'
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
 * Applies the entries of a referral tree's journal. Each entry changes the member lists, counts and sums of
 * all ancestors of a member. Each ancestor gets each entry exactly once, even if several workers run or a run
 * is interrupted. A node of a list's B-tree has at most `capacity` entries. Resolves with `unfinished` at the
 * deadline (epoch milliseconds). Then call this function again. Throws OptimisticLockError if other workers
 * keep writing the same tree.
 */
export const growTree = (
  rootId: number,
  deadline: number,
  capacity: number = nodeCapacity,
): Promise<'finished' | 'unfinished'> =>
  // Parallel reads of single items share one BatchGetItem call.
  readTogether(async () => {
    while (Date.now() < deadline) {
      const result = await retry(
        () => addBatch(rootId, deadline, capacity),
        (error) => error instanceof OptimisticLockError,
      )
      if (result !== 'added') return result
    }
    return 'unfinished'
  })

/**
 * Applies one batch of journal entries: an earlier run's unfinished batch, or else the oldest entries. Each
 * ancestor's profile records what was added, so no worker adds it again. Stops at the deadline. Resolves with
 * `finished` if there was no entry.
 */
async function addBatch(
  rootId: number,
  deadline: number,
  capacity: number,
): Promise<'added' | 'finished' | 'unfinished'> {
  const stored = await readHead(rootId)
  const entries = stored.open ?? selectBatch(await readJournal(rootId, maxBatchEntries))
  if (entries.length === 0) return 'finished'
  const batch = await readBatch(entries)
  const renames = planRenames(batch)
  for (let start = 0; start < renames.length; start += preparedTogether) {
    if (Date.now() >= deadline) return 'unfinished'
    const some = renames.slice(start, start + preparedTogether)
    const prepared = await Promise.all(
      some.map(({ list, members }) => prepareRename(list, members, capacity)),
    )
    await transactAll(prepared.filter((writes) => writes.length > 0))
  }
  const head = stored.open ? stored : nextHead(stored, entries)
  let waiting = planGrowth(batch)
  if (stored.open) waiting = await withoutDone(waiting, head.version)
  else await writeItem(replaceHead(rootId, stored, head))
  while (waiting.length > 0) {
    const unfinished: AncestorUpdate[] = []
    for (let start = 0; start < waiting.length; start += preparedTogether) {
      if (Date.now() >= deadline) return 'unfinished'
      const some = waiting.slice(start, start + preparedTogether)
      const prepared = await Promise.all(some.map((update) => prepareGrowth(update, head.version, capacity)))
      await transactAll(prepared.map(({ writes }) => writes))
      unfinished.push(...prepared.flatMap(({ rest }) => rest ?? []))
    }
    waiting = unfinished
  }
  await transactAll(entries.map((entry) => [deleteJournalEntry(rootId, entry)]))
  await writeItem(replaceHead(rootId, head, nextHead(head)))
  return 'added'
}

/** How many ancestors to update at a time, so that the writes for a deep referral tree fit in memory. */
const preparedTogether = 1_000

/** How many transactions of a batch are under way at a time: each has up to 100 writes. */
const transactionConcurrency = 4

/** Performs groups of writes in any order, each group within one transaction. */
const transactAll = (groups: readonly Write[][]): Promise<void> =>
  forEachConcurrently(packGroups(groups, maxTransactionWrites), transactionConcurrency, transact)
