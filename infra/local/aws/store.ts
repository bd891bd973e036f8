import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** What of the endpoint survives a restart: keys, messages, the outbox. */
export interface Store {
  database: DatabaseSync
  /** Runs `work` so that all of its writes survive a kill, or none. */
  atomically<Result>(work: () => Result): Result
  close(): void
}

/**
 * Opens the store in a directory, or in memory only. Every write has reached the operating system when it returns, so
 * `kill -9` loses nothing (a power cut may: it is a development tool, and waiting for the disk costs milliseconds a message).
 * The file holds private keys, hence mode 0600; SQLite gives its side files the same.
 */
export function openStore(directory: string | undefined): Store {
  if (directory !== undefined) mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = directory === undefined ? ':memory:' : join(directory, 'aws.sqlite')
  if (directory !== undefined) {
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
  }
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
  let depth = 0
  return {
    database,
    atomically(work) {
      if (depth > 0) return work()
      depth += 1
      database.exec('BEGIN')
      try {
        const result = work()
        database.exec('COMMIT')
        return result
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      } finally {
        depth -= 1
      }
    },
    close: () => database.close(),
  }
}
