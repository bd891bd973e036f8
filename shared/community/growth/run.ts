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
 * Applies the entries of a referral tree's journal. Each entry changes the member lists, search indexes,
 * counts and sums of all ancestors of a member. Each ancestor gets each entry exactly once, even if several
 * workers run or a run is interrupted. Resolves with `unfinished` at the deadline (epoch milliseconds). Then
 * call this function again. Throws OptimisticLockError if other workers keep writing the same tree.
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
      // At the deadline, skips the remaining lists. Each is due again when a batch adds members to it.
      for (const list of due) if (Date.now() < deadline) await maintainIndex(rootId, list, storage.limits)
    }
    return 'unfinished'
  })

/**
 * Applies one batch of journal entries: an earlier run's unfinished batch, or else the oldest entries. Each
 * ancestor's profile records what was added, so no worker adds it again. Stops at the deadline. Resolves with
 * the member lists for which to call maintainIndex, or with undefined if there was no entry.
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

/** How many ancestors to update at a time, so that the writes for a deep referral tree fit in memory. */
const preparedTogether = 1_000

/** How many transactions of a batch are under way at a time: each has up to 100 writes. */
const transactionConcurrency = 4

/** Performs groups of writes in any order, each group within one transaction. */
const transactAll = (groups: readonly Write[][]): Promise<void> =>
  forEachConcurrently(packGroups(groups, maxTransactionWrites), transactionConcurrency, transact)
