import { ConditionFailed, maxTransactionWrites, transact, type Write, writeItem } from '../db/write.ts'
import { forEachConcurrently } from '../for-each-concurrently.ts'
import { retry } from '../retry.ts'
import { assignSearchChunks, type ChunkAssignment } from './assign-search-chunks.ts'
import { StaleReadError } from './counted-b-tree/counted-b-tree.ts'
import { standardCapacity } from './counted-b-tree/node.ts'
import { readGrowth } from './downline-growth.ts'
import { finishEarlierBatch } from './finish-earlier-batch.ts'
import { prepareGrowth, type Storage } from './prepare-growth.ts'
import {
  type AncestorUpdate,
  areDistinct,
  countMembers,
  maxBatchEntries,
  packGroups,
  planPropagation,
  planRenames,
  selectBatch,
  sortBatch,
  splitUpdates,
} from './propagation-plan.ts'
import { batchReader, readBatch } from './read-batch.ts'
import { standardLimits } from './search-index/append-members.ts'
import { addDue, maintainNext } from './search-index/maintain-next.ts'
import { replaceTexts } from './search-index/replace-texts.ts'
import {
  closeBatch,
  isIndexDue,
  isOfEarlierRelease,
  openBatch,
  putNextHead,
  readHead,
  type TreeHead,
} from './tree-head.ts'
import { deleteJournalEntry, type JournalEntry, readJournal, type ShardRange } from './tree-journal.ts'

/**
 * Adds everything in a tree's journal to all ancestors: to their lists, search indexes, counts and sums. Each
 * entry takes effect exactly once at each ancestor, at any depth, with any number of workers at the same time
 * and after any interruption. After each batch it maintains one of the search indexes that are due. Resolves
 * with `unfinished` if not all was done at the deadline (epoch milliseconds): call it again. Throws
 * ConditionFailed or StaleReadError when other workers keep writing the same tree.
 */
export async function propagateToAncestors(
  rootId: number,
  deadline: number,
  range: ShardRange = 'all',
  storage: Omit<Storage, 'read'> = { capacity: standardCapacity, limits: standardLimits },
): Promise<'finished' | 'unfinished'> {
  const isOvertaken = (error: unknown) => error instanceof ConditionFailed || error instanceof StaleReadError
  let outcome: Outcome = 'due'
  const next = async (): Promise<Outcome> => {
    if (Date.now() >= deadline) return 'interrupted'
    if (outcome !== 'due') return propagateBatch(rootId, deadline, range, storage)
    await maintainNext(rootId, storage.limits)
    return 'propagated'
  }
  do outcome = await retry(next, isOvertaken)
  while (outcome === 'propagated' || outcome === 'due')
  return outcome === 'empty' ? 'finished' : 'unfinished'
}

/** What a step of the work has done; `due` says that a search index is to be maintained next. */
type Outcome = 'propagated' | 'interrupted' | 'due' | 'empty'

/**
 * Propagates one batch: the open one if there is one, otherwise the oldest journal entries. One that fits
 * into a transaction is that transaction. Any other one is opened first, by a write of the tree's head:
 * then each ancestor gets it in a transaction that no second worker can repeat, because the ancestor's
 * profile tells how much of it is there; then its entries are deleted; at last it is closed. Stops at the
 * deadline.
 */
async function propagateBatch(
  rootId: number,
  deadline: number,
  range: ShardRange,
  storage: Omit<Storage, 'read'>,
): Promise<Outcome> {
  const head = await readHead(rootId)
  const { open } = head
  if (open === undefined && head.batch.length > 0) return finishEarlierBatch(rootId, head, deadline, storage)
  // The release before takes the messages about all shards, and reads only the first.
  const toRead = isOfEarlierRelease(head) ? 'all' : range
  const entries = open ?? selectBatch(await readJournal(rootId, maxBatchEntries, toRead))
  if (entries.length === 0) return isIndexDue(head) ? 'due' : 'empty'
  const read = batchReader()
  const batch = sortBatch(await readBatch(entries, read))
  const assignment = await assignSearchChunks(
    rootId,
    batch.filter(({ entry }) => entry.joined),
    head.chunks,
    read,
  )
  const updates = planPropagation(batch, assignment.chunkByUser)
  await replaceTexts(planRenames(batch))
  const begun = { ...(open === undefined ? openBatch(head, entries) : head), chunks: assignment.chunkCount }
  const work = { rootId, entries, begun, assignment, updates }
  const closed =
    (open === undefined && (await writeAtOnce(work, { ...storage, read }))) ||
    (await writeInParts(work, head, deadline, { ...storage, read }))
  if (closed === undefined) return 'interrupted'
  return isIndexDue(closed) ? 'due' : 'propagated'
}

/** A batch, and the tree's head when it has begun. */
interface Work {
  rootId: number
  entries: readonly JournalEntry[]
  begun: TreeHead
  assignment: ChunkAssignment
  updates: readonly AncestorUpdate[]
}

/** Writes a batch in one transaction, if that has room for it, and resolves with the tree's head. */
async function writeAtOnce(
  { rootId, entries, begun, assignment, updates }: Work,
  storage: Storage,
): Promise<TreeHead | undefined> {
  const deletions = entries.map((entry) => deleteJournalEntry(rootId, entry))
  const others = [...assignment.turns.flat(2), ...deletions]
  if (1 + others.length + updates.length > maxTransactionWrites) return undefined
  const prepared = await Promise.all(
    updates.map((update) => prepareGrowth(update, begun.batch_number, storage)),
  )
  const closed = closeBatch({ ...begun, due: prepared.flatMap(({ due }) => due).reduce(addDue, begun.due) })
  const writes = [putNextHead(rootId, closed), ...others, ...prepared.flatMap(({ writes }) => writes)]
  const isWhole = prepared.every(({ rest }) => rest === undefined)
  if (!isWhole || writes.length > maxTransactionWrites || !areDistinct(writes)) return undefined
  await transact(writes)
  return closed
}

/**
 * Writes a batch in several transactions, or the rest of an open one, and resolves with the tree's head;
 * undefined if the deadline came first.
 */
async function writeInParts(
  { rootId, entries, begun, assignment, updates }: Work,
  head: TreeHead,
  deadline: number,
  storage: Storage,
): Promise<TreeHead | undefined> {
  const isOpen = head.open !== undefined
  let { version, due } = head
  if (!isOpen || begun.chunks !== head.chunks) {
    await writeItem(putNextHead(rootId, begun))
    version += 1
  }
  for (const groups of assignment.turns) await transactAll(groups)
  let waiting = isOpen ? await withoutDone(updates, begun.batch_number) : updates
  for (let { read } = storage; waiting.length > 0; read = batchReader()) {
    const unfinished: AncestorUpdate[] = []
    for (const part of splitUpdates(waiting)) {
      if (Date.now() >= deadline) return undefined
      const prepared = await Promise.all(
        part.map((update) => prepareGrowth(update, begun.batch_number, { ...storage, read })),
      )
      await transactAll(prepared.map(({ writes }) => writes))
      due = prepared.flatMap((growth) => growth.due).reduce(addDue, due)
      unfinished.push(...prepared.flatMap(({ rest }) => rest ?? []))
    }
    waiting = unfinished
  }
  await transactAll(entries.map((entry) => [deleteJournalEntry(rootId, entry)]))
  const closed = closeBatch({ ...begun, version, due })
  await writeItem(putNextHead(rootId, closed))
  return closed
}

/** What is left to do of the updates of an open batch. */
async function withoutDone(updates: readonly AncestorUpdate[], batch: number): Promise<AncestorUpdate[]> {
  const growth = await readGrowth(
    batch,
    updates.map(({ ownerId }) => ownerId),
  )
  return updates.flatMap((update) => {
    const done = growth.get(update.ownerId)
    if (done === undefined) return update
    return done < countMembers(update) ? { ...update, done } : []
  })
}

/** How many transactions of a batch are under way at a time: each has up to 100 writes. */
const transactionConcurrency = 4

/** Writes groups of writes, each in one transaction, in any order. */
const transactAll = (groups: readonly Write[][]): Promise<void> =>
  forEachConcurrently(packGroups(groups, maxTransactionWrites), transactionConcurrency, transact)
