import './function-environment.ts'

// Lets a table in memory answer the calls of the test file, which is many times as fast as DynamoDB Local.
const { beginDatabase, installDatabase } = await import('./dynamodb-in-memory/play-database.ts')
await installDatabase()
beginDatabase(() => Date.now())
