import {
  type AttributeValue,
  BatchWriteItemCommand,
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DynamoDBClient,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'
import { isDeepStrictEqual } from 'node:util'
import { clientOptions } from '../../../shared/aws/client-options.ts'

/** An item as DynamoDB answers it. */
export type Item = Record<string, AttributeValue>

/** All items of a table at a point in time. */
export interface Snapshot {
  items: Item[]
}

/**
 * Copies and replaces whole tables in place of point-in-time recovery, which DynamoDB Local does not have.
 */
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
    /** Replaces the contents of a table by those of a restored one. */
    replace: async (TableName: string, restored: string): Promise<void> => {
      const items = await readAll(restored)
      await client.send(new DeleteTableCommand({ TableName }))
      await restore({ items }, TableName)
      await client.send(new DeleteTableCommand({ TableName: restored }))
    },
    close: () => client.destroy(),
  }
}

/** The items of a table as they were, with every second one of those that changed as it is afterwards. */
export function tearApart(before: readonly Item[], after: readonly Item[]): Item[] {
  const idOf = ({ pk, sk }: Item) => `${pk?.S} ${sk?.S}`
  const known = new Map(before.map((item) => [idOf(item), item]))
  const isThere = new Set(after.map(idOf))
  const changed = after.filter((item) => !isDeepStrictEqual(item, known.get(idOf(item))))
  const deleted = before.filter((item) => !isThere.has(idOf(item)))
  for (const item of changed.filter((_, position) => position % 2 === 0)) known.set(idOf(item), item)
  for (const item of deleted.filter((_, position) => position % 2 === 0)) known.delete(idOf(item))
  return [...known.values()]
}
