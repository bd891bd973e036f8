import { afterAll } from 'vitest'
import './function-environment.ts'
import './quick-argon2.ts'

// Lets a table in memory answer the calls of the test file, which is many times as fast as DynamoDB Local. It
// has the signing keys of the shared table, and nothing else.
const { beginDatabase, endDatabase, installDatabase } = await import('./dynamodb-in-memory/play-database.ts')
const { readItem } = await import('../../shared/db/read.ts')
const { writeItem } = await import('../../shared/db/write.ts')
const { signingKeySetKey } = await import('../../shared/keys/set.ts')
await installDatabase()
const keySet = await readItem(signingKeySetKey, { consistent: true })
beginDatabase(() => Date.now())
await writeItem({ Put: { Item: keySet } })

// The next file of this worker begins with a table of its own.
afterAll(endDatabase)
