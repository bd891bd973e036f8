import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import type { TableModel } from '../model.ts'
import { StartupError } from '../startup-error.ts'

/**
 * Creates the tables that do not exist yet. Existing ones are left as they are; one whose keys or indexes are not
 * those of the template is refused with a `StartupError`, since nothing here would destroy data to change them.
 */
export async function createTables(endpoint: string, region: string, tables: TableModel[]): Promise<void> {
  const client = new DynamoDBClient({
    endpoint,
    region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  try {
    await Promise.all(tables.map((table) => createTable(client, table)))
  } finally {
    client.destroy()
  }
}

async function createTable(client: DynamoDBClient, { name, createTableInput, ttlAttribute }: TableModel) {
  const wanted = createTableInput as unknown as CreateTableCommandInput
  const existing = await describeTable(client, name)
  if (existing !== undefined) {
    if (describeKeys(existing) !== describeKeys(wanted))
      throw new StartupError(
        `table ${name} of the data directory has other keys or indexes than the template: start with another --data DIR, or delete this one`,
      )
    return
  }
  try {
    await client.send(new CreateTableCommand(wanted))
    if (ttlAttribute !== undefined)
      await client.send(
        new UpdateTimeToLiveCommand({
          TableName: name,
          TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
        }),
      )
  } catch (error) {
    // Somebody who shares the endpoint was faster: as good.
    if (!(error instanceof ResourceInUseException)) throw error
  }
}

async function describeTable(client: DynamoDBClient, name: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined
    throw error
  }
}

type Keyed = Pick<TableDescription, 'KeySchema' | 'GlobalSecondaryIndexes' | 'AttributeDefinitions'>

function describeKeys(table: Keyed | CreateTableCommandInput): string {
  const typeOf = new Map(table.AttributeDefinitions?.map((a) => [a.AttributeName, a.AttributeType]))
  const keys = (schema: Keyed['KeySchema']) =>
    schema?.map(
      (key) => `${key.AttributeName ?? ''} ${typeOf.get(key.AttributeName) ?? ''} ${key.KeyType ?? ''}`,
    )
  const indexes = table.GlobalSecondaryIndexes?.map((index) => [
    index.IndexName,
    keys(index.KeySchema),
    index.Projection?.ProjectionType,
    index.Projection?.NonKeyAttributes?.toSorted() ?? [],
  ])
  return JSON.stringify([keys(table.KeySchema), indexes?.sort() ?? []])
}
