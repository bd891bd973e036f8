import './function-environment.ts'

// Lets a table in memory answer the test file's own process. Besides, a test may run a hundred times as often
// as DynamoDB Local would let it.
const { beginDatabase, installDatabase } = await import('./dynamodb-in-memory/play-database.ts')
await installDatabase()
beginDatabase(() => Date.now())
