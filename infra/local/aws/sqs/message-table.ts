import type { SQLOutputValue, StatementSync } from 'node:sqlite'
import type { Store } from '../storage/store.ts'
import type { Message } from './message.ts'

const schema = `
  CREATE TABLE IF NOT EXISTS queue_messages (
    position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, queue TEXT NOT NULL,
    body TEXT NOT NULL, attributes TEXT NOT NULL, senderId TEXT NOT NULL, sentAt INTEGER NOT NULL,
    visibleAt INTEGER NOT NULL, receiveCount INTEGER NOT NULL DEFAULT 0, firstReceivedAt INTEGER,
    receipt TEXT, groupId TEXT, deduplicationId TEXT, deadLetterSourceArn TEXT);
  CREATE INDEX IF NOT EXISTS queue_messages_visible ON queue_messages (queue, visibleAt);
  CREATE INDEX IF NOT EXISTS queue_messages_age ON queue_messages (queue, sentAt);
  CREATE INDEX IF NOT EXISTS queue_messages_received ON queue_messages (queue, visibleAt)
    WHERE receipt IS NOT NULL;
  CREATE INDEX IF NOT EXISTS queue_messages_group ON queue_messages (queue, groupId, visibleAt, receipt)
    WHERE groupId IS NOT NULL;
  CREATE INDEX IF NOT EXISTS queue_messages_order ON queue_messages (queue) WHERE groupId IS NOT NULL;
  CREATE TABLE IF NOT EXISTS queue_duplicates (
    queue TEXT, deduplicationId TEXT, id TEXT NOT NULL, position INTEGER NOT NULL, expiresAt INTEGER NOT NULL,
    PRIMARY KEY (queue, deduplicationId)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS queue_duplicates_expiry ON queue_duplicates (expiresAt);
  -- Messages in flight when the endpoint died are delivered again, and the lost attempt does not count.
  UPDATE queue_messages SET visibleAt = 0, receipt = NULL, receiveCount = receiveCount - 1
    WHERE receipt IS NOT NULL AND visibleAt > unixepoch('subsec') * 1000`

const statements = {
  insert: `INSERT INTO queue_messages
    (id, queue, body, attributes, senderId, sentAt, visibleAt, groupId, deduplicationId)
    VALUES (:id, :queue, :body, :attributes, :senderId, :sentAt, :visibleAt, :groupId, :deduplicationId)`,
  visible: `SELECT * FROM queue_messages WHERE queue = :queue AND visibleAt <= :now
    ORDER BY visibleAt, position LIMIT :limit`,
  // A FIFO group is blocked while any of its messages is in flight.
  freeGroups: `SELECT groupId FROM queue_messages
    WHERE queue = :queue AND groupId IS NOT NULL AND position <= :last
    GROUP BY groupId HAVING MIN(visibleAt) <= :now AND MAX(IIF(receipt IS NULL, 0, visibleAt)) <= :now
    ORDER BY MIN(position) LIMIT :limit`,
  lastScanned: `SELECT position FROM queue_messages WHERE queue = :queue AND groupId IS NOT NULL
    ORDER BY position LIMIT 1 OFFSET :skipped`,
  visibleOfGroup: `SELECT * FROM queue_messages
    WHERE queue = :queue AND groupId = :groupId AND visibleAt <= :now ORDER BY position LIMIT :limit`,
  receive: `UPDATE queue_messages SET visibleAt = :visibleAt, receipt = :receipt,
    receiveCount = receiveCount + 1, firstReceivedAt = COALESCE(firstReceivedAt, :now)
    WHERE position = :position RETURNING *`,
  find: 'SELECT * FROM queue_messages WHERE id = :id AND queue = :queue',
  setVisibleAt: 'UPDATE queue_messages SET visibleAt = :visibleAt WHERE position = :position',
  remove: 'DELETE FROM queue_messages WHERE position = :position',
  removeSentBefore: 'DELETE FROM queue_messages WHERE queue = :queue AND sentAt <= :before',
  moveDeadLetters: `UPDATE queue_messages SET queue = :target, visibleAt = :now, receipt = NULL,
    deadLetterSourceArn = :sourceArn, sentAt = IIF(:resetAge, :now, sentAt)
    WHERE queue = :queue AND visibleAt <= :now AND receipt IS NOT NULL AND receiveCount >= :maxReceiveCount`,
  nextVisibleAt:
    'SELECT MIN(visibleAt) AS next FROM queue_messages WHERE queue = :queue AND visibleAt > :now',
  counts: `SELECT COUNT(*) FILTER (WHERE visibleAt <= :now) AS visible,
    COUNT(*) FILTER (WHERE visibleAt > :now AND receipt IS NOT NULL) AS inFlight,
    COUNT(*) FILTER (WHERE visibleAt > :now AND receipt IS NULL) AS delayed
    FROM queue_messages WHERE queue = :queue`,
  newest: 'SELECT * FROM queue_messages WHERE queue = :queue ORDER BY sentAt DESC LIMIT :limit',
  findDuplicate: `SELECT id, position FROM queue_duplicates
    WHERE queue = :queue AND deduplicationId = :deduplicationId AND expiresAt > :now`,
  forgetDuplicates: 'DELETE FROM queue_duplicates WHERE expiresAt <= :now',
  rememberDuplicate:
    'INSERT INTO queue_duplicates VALUES (:queue, :deduplicationId, :id, :position, :expiresAt)',
}

/** Prepared SQL statements over the messages of all queues. `queue` is the name of a queue. */
export type MessageTable = Record<keyof typeof statements, StatementSync>

/** Opens the SQLite table of messages. Messages in flight when the endpoint died are visible again. */
export function openMessageTable({ database }: Store): MessageTable {
  database.exec(schema)
  const prepared = Object.entries(statements).map(([name, sql]) => [name, database.prepare(sql)])
  return Object.fromEntries(prepared) as MessageTable
}

/** Converts a row of the table to a message. */
export function readRow(row: Record<string, SQLOutputValue>): Message {
  return { ...row, attributes: JSON.parse(String(row.attributes)) as unknown } as unknown as Message
}
