import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The SQLite store of keys, messages and mails, which survive a restart of the AWS endpoint. */
export type Store = ReturnType<typeof openStore>

/**
 * Opens the SQLite store in a directory, or in memory only. `kill -9` loses nothing, because a write has
 * reached the operating system when it returns. A power cut can lose data: waiting for the disk would cost
 * milliseconds per message. The file contains private keys, so only its owner can read it (mode 0600,
 * SQLite's side files included).
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
    /** Runs `work` as one SQLite transaction: after a kill, all writes are stored or none. Can be nested. */
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
