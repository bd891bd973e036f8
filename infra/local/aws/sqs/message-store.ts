import type { Store } from '../storage/store.ts'
import type { Message } from './message.ts'

const schema =
  'CREATE TABLE IF NOT EXISTS sqs_messages (position INTEGER PRIMARY KEY, queue TEXT NOT NULL, message TEXT NOT NULL)'

/** The stored messages of all queues, which are read when the endpoint starts. */
export type MessageStore = ReturnType<typeof openMessageStore>

export function openMessageStore({ database }: Store) {
  database.exec(schema)
  const select = database.prepare('SELECT message FROM sqs_messages WHERE queue = ? ORDER BY position')
  const insert = database.prepare('INSERT OR REPLACE INTO sqs_messages VALUES (?, ?, ?)')
  const remove = database.prepare('DELETE FROM sqs_messages WHERE position = ?')
  const newest = database.prepare('SELECT MAX(position) AS position FROM sqs_messages').get()
  let lastPosition = Number(newest?.['position'] ?? 0)
  return {
    takePosition: (): number => (lastPosition += 1),
    /** Reads a queue's messages after a restart, oldest first. None of them is in flight any more. */
    list: (queue: string): Message[] =>
      select.all(queue).map(({ message }) => giveBack(JSON.parse(String(message)) as Message)),
    save: (queue: string, message: Message): void =>
      void insert.run(message.position, queue, JSON.stringify(message)),
    remove: ({ position }: Message): void => void remove.run(position),
  }
}

const giveBack = (message: Message): Message =>
  message.receipt !== null && message.visibleAt > Date.now()
    ? { ...message, visibleAt: 0, receipt: null, receiveCount: message.receiveCount - 1 }
    : message
