import { afterAll } from 'vitest'
import './function-environment.ts'
import './quick-argon2.ts'

// Replaces the test file's table with one in memory, which is many times as fast as DynamoDB Local. At first,
// the new table contains only the signing keys of the shared table.
const { beginDatabase, endDatabase, installDatabase } = await import('./dynamodb-in-memory/play-database.ts')
const { readItem } = await import('../../shared/db/read.ts')
const { writeItem } = await import('../../shared/db/write.ts')
const { signingKeySetKey } = await import('../../shared/keys/set.ts')
await installDatabase()
const keySet = await readItem(signingKeySetKey, { consistent: true })
beginDatabase(() => Date.now())
await writeItem({ Put: { Item: keySet } })

afterAll(endDatabase)
