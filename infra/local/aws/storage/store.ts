import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** What survives a restart of the endpoint: keys, messages and mails, in SQLite. */
export type Store = ReturnType<typeof openStore>

/**
 * Opens the store in a directory, or in memory only. `kill -9` loses nothing, because a write has reached the
 * operating system when it returns. A power cut may: waiting for the disk would cost milliseconds a message.
 * The file holds private keys, so only its owner can read it (mode 0600, also of SQLite's side files).
 */
export function openStore(directory: string | undefined) {
  const path = directory === undefined ? ':memory:' : join(directory, 'aws.sqlite')
  if (directory !== undefined) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
  }
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
  return {
    database,
    /** Runs `work` as one transaction: after a kill all of its writes are kept, or none. May be nested. */
    atomically<Result>(work: () => Result): Result {
      if (database.isTransaction) return work()
      database.exec('BEGIN')
      try {
        const result = work()
        database.exec('COMMIT')
        return result
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    },
    close: () => database.close(),
  }
}
