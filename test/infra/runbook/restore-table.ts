import {
  type AttributeValue,
  BatchWriteItemCommand,
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DynamoDBClient,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'
import { clientOptions } from '../../../shared/aws/client-options.ts'

/** An item as DynamoDB returns it. */
export type Item = Record<string, AttributeValue>

/** All items of a table at a point in time. */
export interface Snapshot {
  items: Item[]
}

/** Copies and replaces whole tables, because DynamoDB Local lacks point-in-time recovery. */
export function openTables(layout: Record<string, unknown>, client = new DynamoDBClient(clientOptions())) {
  const readAll = async (TableName: string): Promise<Item[]> => {
    const items: Item[] = []
    let start: Item | undefined
    do {
      const answer = await client.send(
        new ScanCommand({
          TableName,
          ConsistentRead: true,
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      )
      items.push(...(answer.Items ?? []))
      start = answer.LastEvaluatedKey
    } while (start !== undefined)
    return items
  }

  const restore = async ({ items }: Snapshot, TableName: string): Promise<void> => {
    await client.send(
      new CreateTableCommand({ ...(layout as unknown as CreateTableCommandInput), TableName }),
    )
    const starts = Array.from({ length: Math.ceil(items.length / 25) }, (_, batch) => 25 * batch)
    const writing = starts.map((start) => {
      const puts = items.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }))
      return client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: puts } }))
    })
    await Promise.all(writing)
  }

  return {
    takeSnapshot: async (TableName: string): Promise<Snapshot> => ({ items: await readAll(TableName) }),
    restore,
    /** Deletes a table, and creates it again from a restored table. Then deletes the restored table. */
    replace: async (TableName: string, restored: string): Promise<void> => {
      const items = await readAll(restored)
      await client.send(new DeleteTableCommand({ TableName }))
      await restore({ items }, TableName)
      await client.send(new DeleteTableCommand({ TableName: restored }))
    },
    close: () => client.destroy(),
  }
}

/**
 * The restore time in tests, in ISO 8601: the first full hour that is at least a minute away. Tests do not
 * wait for it. They copy the table while nothing writes, and use the copy as the restored table.
 */
export const nextHour = (): string =>
  new Date(Math.ceil((Date.now() + 60_000) / 3_600_000) * 3_600_000).toISOString()
