import { ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb'
import { db, type Item, tableName } from '../../../shared/db/table.ts'

/**
 * Yields the items of the whole table that match a filter, unordered, by strongly consistent reads. Reads the
 * segments in parallel, and of each at most one page before it is needed. AWS also charges for items that do
 * not match (AWS: Scan). No Lambda function is allowed to scan.
 */
export async function* scanItems(
  filter: Pick<ScanCommandInput, 'FilterExpression' | 'ExpressionAttributeValues'>,
  segments = 16,
): AsyncGenerator<Item> {
  const scanPage = async (Segment: number, ExclusiveStartKey?: Item) => {
    const page = await db.send(
      new ScanCommand({
        ...filter,
        TableName: tableName(),
        ConsistentRead: true,
        Segment,
        TotalSegments: segments,
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      }),
    )
    return { Segment, page }
  }
  const pending = new Map(Array.from({ length: segments }, (_, i) => [i, scanPage(i)]))
  while (pending.size > 0) {
    const { Segment, page } = await Promise.race(pending.values())
    if (page.LastEvaluatedKey === undefined) pending.delete(Segment)
    else pending.set(Segment, scanPage(Segment, page.LastEvaluatedKey))
    yield* page.Items ?? []
  }
}
