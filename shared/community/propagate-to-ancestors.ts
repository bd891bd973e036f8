import { setImmediate as endOfTurn } from 'node:timers/promises'
import { readItems } from '../db/read.ts'
import type { Item, Key } from '../db/table.ts'
import { ConditionFailed, maxTransactionWrites, transact, type Write } from '../db/write.ts'
import { retry } from '../retry.ts'
import { assignSearchChunks } from './assign-search-chunks.ts'
import { CountedBTree, type ReadItem, StaleReadError } from './counted-b-tree/counted-b-tree.ts'
import { type MemberList, type NodeCapacity, standardCapacity } from './counted-b-tree/node.ts'
import { addDownlineDelta, type Profile, profileKey, toProfile } from './member.ts'
import {
  type AncestorUpdate,
  type BatchEntry,
  maxBatchEntries,
  packTransactions,
  planPropagation,
  planRenames,
  selectBatch,
  type WriteGroup,
} from './propagation-plan.ts'
import { appendMembers, type IndexLimits, standardLimits } from './search-index/append-members.ts'
import { addDue, maintainNext } from './search-index/maintain-next.ts'
import { replaceTexts } from './search-index/replace-texts.ts'
import {
  deleteJournalEntry,
  isIndexDue,
  type JournalEntry,
  putNextHead,
  readHead,
  readJournal,
  readJournalEntries,
  type TreeHead,
} from './tree-journal.ts'

/**
 * Adds everything in a tree's journal to all ancestors: to their lists, search indexes, counts and sums. Each
 * entry takes effect exactly once at each ancestor, at any depth, with any number of workers at the same time
 * and after any interruption. Then it maintains the search indexes, and one of them before, because a busy
 * journal may never be empty. Resolves with `unfinished` if not all was done at the deadline (epoch
 * milliseconds): call it again. Throws ConditionFailed or StaleReadError when other workers keep writing the
 * same tree.
 */
export async function propagateToAncestors(
  rootId: number,
  deadline: number,
  capacity: NodeCapacity = standardCapacity,
  limits: IndexLimits = standardLimits,
): Promise<'finished' | 'unfinished'> {
  const isOvertaken = (error: unknown) => error instanceof ConditionFailed || error instanceof StaleReadError
  let outcome: 'propagated' | 'interrupted' | 'due' | 'empty' = 'due'
  const next = async () => {
    if (Date.now() >= deadline) return 'interrupted'
    if (outcome !== 'due') return propagateBatch(rootId, deadline, capacity, limits)
    await maintainNext(rootId, limits)
    return 'propagated'
  }
  do outcome = await retry(next, isOvertaken)
  while (outcome === 'propagated' || outcome === 'due')
  return outcome === 'empty' ? 'finished' : 'unfinished'
}

/**
 * Propagates one batch: the interrupted one if there is one, otherwise the oldest journal entries. At the
 * deadline it stops between two transactions, as a batch of a deep tree may take longer than a function runs.
 */
async function propagateBatch(
  rootId: number,
  deadline: number,
  capacity: NodeCapacity,
  limits: IndexLimits,
): Promise<'propagated' | 'interrupted' | 'due' | 'empty'> {
  const head = await readHead(rootId)
  const entries = await readBatch(rootId, head)
  if (entries.length === 0) return isIndexDue(head) ? 'due' : 'empty'
  const read = batchReader()
  const batch = await Promise.all(entries.map((entry) => withAncestors(entry, read)))
  const newMembers = batch.filter(({ entry }) => entry.joined)
  const assignment = await assignSearchChunks(rootId, newMembers, head.chunks, read)
  const updates = planPropagation(batch, assignment.chunkByUser)
  const sortKeys = entries.map(({ sk }) => sk)
  await replaceTexts(planRenames(batch))

  async function* writeGroups(): AsyncGenerator<WriteGroup> {
    let { done, due } = head
    yield { writes: assignment.writes, progress: { batch: sortKeys, done, due } }
    for await (const { list, writes, isDue } of prepareUpdates(updates.slice(done), capacity, limits, read)) {
      done += 1
      if (isDue) due = addDue(due, list)
      yield { writes, progress: { batch: sortKeys, done, due } }
    }
    const deletions = entries.map((entry) => deleteJournalEntry(rootId, entry))
    yield { writes: deletions, progress: { batch: [], done: 0, due } }
  }

  let { version } = head
  const { chunkCount: chunks } = assignment
  for await (const { writes, progress } of packTransactions(writeGroups(), maxTransactionWrites - 1)) {
    await transact([putNextHead(rootId, { ...head, version, chunks, ...progress }), ...writes])
    version += 1
    if (Date.now() >= deadline) return 'interrupted'
  }
  return 'propagated'
}

async function readBatch(rootId: number, { batch }: TreeHead): Promise<JournalEntry[]> {
  if (batch.length === 0) return selectBatch(await readJournal(rootId, maxBatchEntries))
  const entries = await readJournalEntries(rootId, batch)
  if (entries === undefined) throw new StaleReadError('another worker has completed the batch')
  return entries
}

/** Looks up a journal entry's member and all ancestors: one read per `maxUplineLength` ancestors. */
async function withAncestors(entry: JournalEntry, read: ReadItem): Promise<BatchEntry> {
  const readMember = async (userId: number): Promise<Profile> => {
    const item = await read(profileKey(userId))
    if (item === undefined) throw new Error('a member of a tree has no profile')
    return toProfile(item)
  }
  const profile = await readMember(entry.userId)
  const ancestors = [...profile.upline]
  while (ancestors.length < profile.depth) {
    const { upline } = await readMember(ancestors.at(-1) ?? profile.rootId)
    if (upline.length === 0) throw new Error('an upline ends before its root')
    ancestors.push(...upline)
  }
  return { entry, profile, ancestors }
}

/** How many ancestor updates are prepared at a time: enough to share reads, bounded for deep trees. */
const updateConcurrency = 64

/** The writes of an ancestor update, and whether the search index of its list is then to be maintained. */
interface PreparedUpdate {
  list: MemberList
  writes: Write[]
  isDue: boolean
}

/** Prepares the writes of each ancestor update, in order. */
async function* prepareUpdates(
  updates: readonly AncestorUpdate[],
  capacity: NodeCapacity,
  limits: IndexLimits,
  read: ReadItem,
): AsyncGenerator<PreparedUpdate> {
  for (let start = 0; start < updates.length; start += updateConcurrency) {
    const batch = updates.slice(start, start + updateConcurrency)
    yield* await Promise.all(batch.map((update) => prepareUpdate(update, capacity, limits, read)))
  }
}

async function prepareUpdate(
  { list, newMembers, delta }: AncestorUpdate,
  capacity: NodeCapacity,
  limits: IndexLimits,
  read: ReadItem,
): Promise<PreparedUpdate> {
  const writes = delta === undefined ? [] : [addDownlineDelta(list.ownerId, delta)]
  if (newMembers.length === 0) return { list, writes, isDue: false }
  const tree = await CountedBTree.open(list, read, capacity)
  const appending = appendMembers(list, tree.count, newMembers, read, limits)
  const inserting = (async () => {
    for (const member of newMembers) await tree.insert(member)
  })()
  const [appended] = await Promise.all([appending, inserting])
  return { list, writes: [...writes, ...tree.writes(), ...appended.writes], isDue: appended.isDue }
}

/**
 * A reader that collects the keys requested in one turn of the event loop and reads them in one batch, so
 * that code which reads items one by one in parallel shares its round trips. It reads no item twice. Reads
 * are strongly consistent.
 */
function batchReader(): ReadItem {
  const known = new Map<string, Promise<Item | undefined>>()
  let batch: { keys: Key[]; items: Promise<(Item | undefined)[]> } | undefined
  const openBatch = () => {
    const keys: Key[] = []
    const items = endOfTurn().then(() => {
      batch = undefined
      return readItems(keys, { consistent: true })
    })
    return { keys, items }
  }
  return (key) => {
    const name = `${key.pk} ${key.sk}`
    const earlier = known.get(name)
    if (earlier !== undefined) return earlier
    batch ??= openBatch()
    const index = batch.keys.push(key) - 1
    const item = batch.items.then((items) => items[index])
    known.set(name, item)
    return item
  }
}
