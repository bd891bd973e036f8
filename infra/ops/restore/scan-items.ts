import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb'
import { db, type Item, tableName } from '../../../shared/db/table.ts'
import { startProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'

type Filter = Pick<ScanCommandInput, 'FilterExpression' | 'ExpressionAttributeValues'>

/**
 * Yields the items of the whole table that match a filter, unordered, by strongly consistent reads. Reads the
 * segments in parallel, and of each at most one page before it is needed. AWS also charges for items that do
 * not match (AWS: Scan). No Lambda function is allowed to scan.
 */
export async function* scanItems(
  filter: Filter,
  segments = 16,
  onPage?: (itemsRead: number) => void,
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
    onPage?.(page.ScannedCount ?? 0)
    yield* page.Items ?? []
  }
}

/**
 * Does the same, and shows the progress. Its end is an estimate: DynamoDB counts the items of a table every
 * six hours (AWS: DescribeTable).
 */
export async function* scanVisibly(terminal: Pick<Terminal, 'screen'>, filter: Filter): AsyncGenerator<Item> {
  using progress = startProgress(terminal, 'reading the table', 'items')
  const end = progress.isShown ? await countItems() : 0
  let read = 0
  yield* scanItems(filter, undefined, (items) => progress.show((read += items), end))
}

async function countItems(): Promise<number> {
  const { Table } = await db.send(new DescribeTableCommand({ TableName: tableName() }))
  return Table?.ItemCount ?? 0
}
