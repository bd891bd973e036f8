import * as dynamodb from '@aws-sdk/client-dynamodb'
import type { TableModel } from '../model.ts'
import { openDatabase } from './own-database.ts'

/** Creates the tables that do not exist yet. */
export async function createTables(endpoint: string, tables: TableModel[]): Promise<void> {
  const client = openDatabase(endpoint)
  try {
    await Promise.all(tables.map((table) => createTable(client, table)))
  } finally {
    client.destroy()
  }
}

async function createTable(
  client: dynamodb.DynamoDBClient,
  { name, createTableInput, ttlAttribute }: TableModel,
): Promise<void> {
  try {
    const input = createTableInput as unknown as dynamodb.CreateTableCommandInput
    await client.send(new dynamodb.CreateTableCommand(input))
  } catch (error) {
    if (error instanceof dynamodb.ResourceInUseException) return
    throw error
  }
  if (ttlAttribute === undefined) return
  const TimeToLiveSpecification = { AttributeName: ttlAttribute, Enabled: true }
  await client.send(new dynamodb.UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }))
}
