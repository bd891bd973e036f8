import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
} from '@aws-sdk/client-dynamodb'
import { randomUUID } from 'node:crypto'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { tableName } from '../../shared/db/table.ts'

/** Creates a table like the shared one, and makes this process use it. Returns a function that deletes it. */
export async function useOwnTable(): Promise<() => Promise<void>> {
  const client = new DynamoDBClient(clientOptions())
  const shared = tableName()
  const { Table } = await client.send(new DescribeTableCommand({ TableName: shared }))
  const TableName = `own-${randomUUID()}`
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: Table?.AttributeDefinitions,
      KeySchema: Table?.KeySchema,
      GlobalSecondaryIndexes: Table?.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
        IndexName,
        KeySchema,
        Projection,
      })),
    }),
  )
  process.env['TABLE_NAME'] = TableName
  return async () => {
    process.env['TABLE_NAME'] = shared
    await client.send(new DeleteTableCommand({ TableName }))
    client.destroy()
  }
}
