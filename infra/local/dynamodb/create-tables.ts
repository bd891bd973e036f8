import * as dynamodb from '@aws-sdk/client-dynamodb'
import type { TableModel } from '../model.ts'
import { StartupError } from '../startup-error.ts'
import { openDatabase } from './own-database.ts'

/**
 * Creates the tables that do not exist yet. Throws a `StartupError` for an existing table whose keys or
 * indexes differ from the template: changing them deletes data, which a person must decide.
 */
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
) {
  const wanted = createTableInput as unknown as dynamodb.CreateTableCommandInput
  const existing = await describeTable(client, name)
  if (existing !== undefined) {
    if (describeKeys(existing) === describeKeys(wanted)) return
    throw new StartupError(
      `table ${name} of the data directory has other keys or indexes than the template: start with another --data DIR, or delete this one`,
    )
  }
  try {
    await client.send(new dynamodb.CreateTableCommand(wanted))
    if (ttlAttribute === undefined) return
    const TimeToLiveSpecification = { AttributeName: ttlAttribute, Enabled: true }
    await client.send(new dynamodb.UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }))
  } catch (error) {
    // Ignores a table that another stack at the same endpoint has just created.
    if (!(error instanceof dynamodb.ResourceInUseException)) throw error
  }
}

async function describeTable(
  client: dynamodb.DynamoDBClient,
  name: string,
): Promise<dynamodb.TableDescription | undefined> {
  try {
    return (await client.send(new dynamodb.DescribeTableCommand({ TableName: name }))).Table
  } catch (error) {
    if (error instanceof dynamodb.ResourceNotFoundException) return undefined
    throw error
  }
}

/** Describes the keys and indexes of a table as text, so that two tables can be compared. */
function describeKeys(table: dynamodb.TableDescription | dynamodb.CreateTableCommandInput): string {
  const typeOf = new Map(table.AttributeDefinitions?.map((a) => [a.AttributeName, a.AttributeType]))
  const keys = (schema: dynamodb.TableDescription['KeySchema']) =>
    schema?.map((key) => [key.AttributeName, typeOf.get(key.AttributeName), key.KeyType])
  const indexes = table.GlobalSecondaryIndexes?.map((index) => [
    index.IndexName,
    keys(index.KeySchema),
    index.Projection?.ProjectionType,
    index.Projection?.NonKeyAttributes?.toSorted() ?? [],
  ])
  return JSON.stringify([keys(table.KeySchema), indexes?.sort() ?? []])
}
