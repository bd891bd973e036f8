import type { Partition } from '../../../shared/db/partitions.ts'
import { scanItems } from '../../../shared/db/read.ts'
import type { Item } from '../../../shared/db/table.ts'

/** Number of parallel segments of the scan of the table. */
const segments = 16

/** Partitions of which everything is found, because a part of a transaction may have left no instant. */
const whole = [
  'CLIENT#',
  'DIR#',
  'EMAIL#',
  'FIND#',
  'KEYS',
  'MEMBER#',
  'POOL#',
  'RATES',
  'TEAM#',
  'TREE#',
  'WAKE#',
] satisfies Partition[]

/**
 * Finds what was written at an instant (epoch milliseconds) or later, by partition, every withdrawal that is
 * open, every deposit address that is free, and some partitions as a whole. Reads the whole table, as nothing
 * else finds an item whose transaction was torn: a restored table may hold only some of the changes of a
 * recent transaction, and backups are not causally consistent, with a skew of usually much less than a second
 * (Amazon DynamoDB Developer Guide: "DynamoDB transactions: how it works", TransactWriteItems; "Backing up
 * and restoring DynamoDB tables: how it works").
 */
export async function findChanged(since: number): Promise<Map<Partition, Item[]>> {
  const items = scanItems(
    {
      FilterExpression: [
        'applied_at >= :since',
        'changed_at >= :since',
        'created_at >= :since',
        'last_at >= :since',
        '(begins_with(pk, :withdrawal) AND #status = :requested)',
        '(begins_with(pk, :address) AND attribute_not_exists(user_id))',
        ...whole.map((_, i) => `begins_with(pk, :whole${i})`),
      ].join(' OR '),
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':since': since,
        ':withdrawal': 'WD#',
        ':requested': 'requested',
        ':address': 'ADDR#',
        ...Object.fromEntries(whole.map((partition, i) => [`:whole${i}`, partition])),
      },
    },
    segments,
  )
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return groupByPartition(found)
}

/** Groups items by the beginning of their partition key. */
export const groupByPartition = (items: readonly Item[]): Map<Partition, Item[]> =>
  Map.groupBy(items, ({ pk }) => /^[^#]*#?/.exec(String(pk))?.[0] as Partition)
