import * as v from 'valibot'
import type { Store } from '../store.ts'
import { MessageRecord } from './message.ts'

/** A remembered deduplication id: what the first message with it was given. */
export interface Duplicate {
  messageId: string
  sequenceNumber: string
  /** Epoch milliseconds. */
  expiresAt: number
}

/** The messages of all queues, on disk. */
export interface MessageStore {
  put(queueName: string, message: MessageRecord): void
  remove(messageId: string): void
  load(queueName: string): MessageRecord[]
  remember(queueName: string, deduplicationKey: string, duplicate: Duplicate): void
  forget(queueName: string, deduplicationKey: string): void
  loadDuplicates(queueName: string): Map<string, Duplicate>
  atomically: Store['atomically']
}

const columns =
  'message_id TEXT PRIMARY KEY, queue TEXT NOT NULL, position INTEGER NOT NULL, record TEXT NOT NULL'

/** Opens the tables of messages. Positions keep the order of arrival over a restart. */
export function openMessageStore(store: Store): MessageStore {
  const { database } = store
  database.exec(`
    CREATE TABLE IF NOT EXISTS sqs_messages (${columns}) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS sqs_duplicates
      (queue TEXT, key TEXT, message_id TEXT NOT NULL, sequence_number TEXT NOT NULL, expires_at INTEGER NOT NULL,
       PRIMARY KEY (queue, key)) WITHOUT ROWID`)
  const put = database.prepare(
    `INSERT INTO sqs_messages (message_id, queue, position, record) VALUES (?, ?, ?, ?)
     ON CONFLICT (message_id) DO UPDATE SET queue = excluded.queue, record = excluded.record`,
  )
  const remove = database.prepare('DELETE FROM sqs_messages WHERE message_id = ?')
  const remember = database.prepare('INSERT OR REPLACE INTO sqs_duplicates VALUES (?, ?, ?, ?, ?)')
  let position = Number(database.prepare('SELECT MAX(position) AS last FROM sqs_messages').get()?.last ?? 0)

  return {
    put: (queueName, message) => put.run(message.id, queueName, (position += 1), JSON.stringify(message)),
    remove: (messageId) => remove.run(messageId),
    load: (queueName) =>
      database
        .prepare('SELECT record FROM sqs_messages WHERE queue = ? ORDER BY position')
        .all(queueName)
        .map((row) => v.parse(MessageRecord, JSON.parse(String(row.record)))),
    remember: (queueName, key, duplicate) =>
      remember.run(queueName, key, duplicate.messageId, duplicate.sequenceNumber, duplicate.expiresAt),
    forget: (queueName, key) =>
      database.prepare('DELETE FROM sqs_duplicates WHERE queue = ? AND key = ?').run(queueName, key),
    loadDuplicates: (queueName) => {
      database
        .prepare('DELETE FROM sqs_duplicates WHERE queue = ? AND expires_at <= ?')
        .run(queueName, Date.now())
      const rows = database
        .prepare('SELECT * FROM sqs_duplicates WHERE queue = ? ORDER BY expires_at')
        .all(queueName)
      return new Map(
        rows.map((row) => [
          String(row.key),
          {
            messageId: String(row.message_id),
            sequenceNumber: String(row.sequence_number),
            expiresAt: Number(row.expires_at),
          },
        ]),
      )
    },
    atomically: (work) => store.atomically(work),
  }
}
