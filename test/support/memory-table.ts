import { afterAll, beforeAll } from 'vitest'
import type { DrawLag } from './dynamodb-in-memory/database.ts'
import { beginPlainDatabase, endDatabase } from './dynamodb-in-memory/play-database.ts'

/** Gives a test file a table in memory. `drawLag` says which reads are stale; by default no read is stale. */
export function useMemoryTable(drawLag?: DrawLag): void {
  beforeAll(() => beginPlainDatabase(drawLag))
  afterAll(endDatabase)
}
