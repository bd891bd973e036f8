import { transact } from '../db/write.ts'
import { StaleReadError } from './counted-b-tree/counted-b-tree.ts'
import { addDownlineDelta } from './downline-growth.ts'
import { insertMembers, type Storage } from './prepare-growth.ts'
import { planPropagation, planRenames } from './propagation-plan.ts'
import { batchReader, readBatch } from './read-batch.ts'
import { addDue } from './search-index/maintain-next.ts'
import { replaceTexts } from './search-index/replace-texts.ts'
import { closeBatch, putNextHead, type TreeHead } from './tree-head.ts'
import { deleteJournalEntry, readJournalEntries } from './tree-journal.ts'

/**
 * Finishes a batch that the release before has begun: at most 50 entries, whose first `head.done` changes
 * of lists are made. That release begins a batch with a transaction that gives every new member a search
 * chunk, and each further one writes the tree's head. Resolves with `interrupted` at the deadline, epoch
 * milliseconds.
 */
export async function finishEarlierBatch(
  rootId: number,
  head: TreeHead,
  deadline: number,
  storage: Omit<Storage, 'read'>,
): Promise<'propagated' | 'interrupted'> {
  const entries = await readJournalEntries(rootId, head.batch)
  if (entries === undefined) throw new StaleReadError('another worker has completed the batch')
  const batch = await readBatch(entries, batchReader())
  await replaceTexts(planRenames(batch))
  const chunkByUser = new Map(batch.map(({ profile }) => [profile.userId, profile.chunk]))
  const changes = planPropagation(batch, chunkByUser).flatMap(({ ownerId, lists, performance }) => {
    const [members = 0, directs = 0] = lists.map(({ newMembers }) => newMembers.length)
    return lists.map((list, i) => ({
      list,
      sums: i === 0 ? [addDownlineDelta(ownerId, { members, directs, performance })] : [],
    }))
  })
  let next = head
  for (const { list, sums } of changes.slice(head.done)) {
    if (Date.now() >= deadline) return 'interrupted'
    const { writes, due } = await insertMembers([list], 0, { ...storage, read: batchReader() })
    const progress = { done: next.done + 1, due: due.reduce(addDue, next.due) }
    await transact([putNextHead(rootId, { ...next, ...progress }), ...sums, ...writes])
    next = { ...next, ...progress, version: next.version + 1 }
  }
  const deletions = entries.map((entry) => deleteJournalEntry(rootId, entry))
  await transact([putNextHead(rootId, closeBatch(next)), ...deletions])
  return 'propagated'
}
