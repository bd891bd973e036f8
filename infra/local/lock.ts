import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from './startup-error.ts'

/**
 * Locks a data directory for this process, and returns a function that releases the lock. The lock is a file
 * lock of SQLite, so the operating system releases it however the process ends. Throws a `StartupError` if
 * another local stack holds the lock.
 */
export function lockDataDirectory(directory: string): () => void {
  mkdirSync(directory, { recursive: true })
  const lock = new DatabaseSync(join(directory, 'lock.sqlite'))
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch {
    lock.close()
    throw new StartupError(`another local stack uses ${directory}: stop it, or start with another --data DIR`)
  }
  return () => lock.close()
}
