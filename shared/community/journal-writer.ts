import type { Write } from '../db/write.ts'
import type { Outcome } from '../events/event-record.ts'
import { chooseShard, spreadShard } from './journal-shards.ts'
import { type JournalChange, putJournalEntry } from './tree-journal.ts'
import { notifyTreeQueue } from './tree-queue.ts'

/** Writes the journal entry of an event about a member. */
export interface JournalWriter {
  /** The write of the entry, at an instant, epoch milliseconds. */
  put: (what: JournalChange, at: number) => Write
  /**
   * Notifies the tree queue. Call it after the event's transaction, and also when the event is a
   * duplicate.
   */
  notify: (outcome: Outcome) => Promise<void>
}

/** Creates a writer of a journal entry about a member of a tree. */
export function journalWriter(rootId: number, userId: number): JournalWriter {
  const shard = chooseShard(rootId, userId)
  // The function that applied a duplicate may have died before it notified, and may have chosen either shard.
  const repeat = () =>
    Promise.all([0, spreadShard(userId)].map((one) => notifyTreeQueue(rootId, one, { isRepeated: true })))
  return {
    put: (what, at) => putJournalEntry(rootId, shard, userId, what, at),
    notify: async (outcome) => {
      await (outcome === 'duplicate' ? repeat() : notifyTreeQueue(rootId, shard))
    },
  }
}
