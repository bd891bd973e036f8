import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { tableName } from '../../../shared/db/table.ts'
import { itemBytes, overheadBytes, type WireItem } from '../../support/item-bytes.ts'

/** Bytes in the table of the items that `write` creates, as DynamoDB charges them, without the index. */
export async function storedBytes(
  write: () => Promise<unknown>,
  isMine: (pk: string) => boolean,
): Promise<number> {
  const before = new Set((await readItems()).map(keyOf))
  await write()
  const created = (await readItems()).filter(
    (item) => !before.has(keyOf(item)) && isMine(item['pk']?.S ?? ''),
  )
  return created.reduce((sum, item) => sum + overheadBytes + itemBytes(item), 0)
}

const keyOf = ({ pk, sk }: WireItem): string => `${pk?.S ?? ''} ${sk?.S ?? ''}`

async function readItems(): Promise<WireItem[]> {
  const client = new DynamoDBClient(clientOptions())
  const items: WireItem[] = []
  let start: WireItem | undefined
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: tableName(),
        ConsistentRead: true,
        ...(start && { ExclusiveStartKey: start }),
      }),
    )
    items.push(...(page.Items ?? []))
    start = page.LastEvaluatedKey
  } while (start !== undefined)
  client.destroy()
  return items
}
