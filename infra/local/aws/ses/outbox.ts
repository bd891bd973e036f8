import type { Store } from '../store.ts'

/** A mail that would have been sent. */
export interface OutboxMessage {
  to: string
  subject: string
  text: string
  /** Epoch milliseconds. */
  sent_at: number
}

/** The mails, newest first. */
export interface Outbox {
  add(message: OutboxMessage): void
  /** All, or those to one address (without regard to case). */
  list(to?: string): OutboxMessage[]
}

const capacity = 10_000

/** Opens the outbox of the store; beyond its capacity the oldest mails go. */
export function openOutbox(store: Store): Outbox {
  store.database.exec(`
    CREATE TABLE IF NOT EXISTS ses_outbox
      (id INTEGER PRIMARY KEY AUTOINCREMENT, recipient TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL,
       sent_at INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS ses_outbox_recipient ON ses_outbox (recipient COLLATE NOCASE, id)`)
  const insert = store.database.prepare(
    'INSERT INTO ses_outbox (recipient, subject, text, sent_at) VALUES (?, ?, ?, ?)',
  )
  const trim = store.database.prepare('DELETE FROM ses_outbox WHERE id <= ?')
  const all = store.database.prepare('SELECT * FROM ses_outbox ORDER BY id DESC')
  const ofOne = store.database.prepare(
    'SELECT * FROM ses_outbox WHERE recipient = ? COLLATE NOCASE ORDER BY id DESC',
  )
  return {
    add(message) {
      const { lastInsertRowid } = insert.run(message.to, message.subject, message.text, message.sent_at)
      trim.run(Number(lastInsertRowid) - capacity)
    },
    list: (to) =>
      (to === undefined ? all.all() : ofOne.all(to)).map((row) => ({
        to: String(row.recipient),
        subject: String(row.subject),
        text: String(row.text),
        sent_at: Number(row.sent_at),
      })),
  }
}
