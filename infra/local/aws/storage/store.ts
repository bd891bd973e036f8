import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The SQLite store of keys, messages and mails, which survive a restart of the AWS endpoint. */
export type Store = ReturnType<typeof openStore>

/**
 * Opens the SQLite store in a directory, or in memory. Data survives `kill -9`, but may not survive a power
 * cut: writes do not wait for the disk, which would cost milliseconds per message. Only the owner can read
 * the store's files (mode 0600), because they contain private keys.
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
