import { type AttributeValue, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { tableName } from '../../../shared/db/table.ts'

type Item = Record<string, AttributeValue>

/** What DynamoDB adds to every item that it stores (Amazon DynamoDB pricing, data storage). */
const overheadBytes = 100

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
  return created.reduce((sum, item) => sum + overheadBytes + bytesOfMembers(item), 0)
}

const keyOf = ({ pk, sk }: Item): string => `${pk?.S ?? ''} ${sk?.S ?? ''}`

async function readItems(): Promise<Item[]> {
  const client = new DynamoDBClient(clientOptions())
  const items: Item[] = []
  let start: Item | undefined
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

const bytesOfMembers = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + bytesOf(value), 0)

/** Bytes of a text or number (DynamoDB: Item sizes); a bill and an event's record have no other members. */
function bytesOf({ S: text, N: number }: AttributeValue): number {
  if (text !== undefined) return Buffer.byteLength(text)
  if (number !== undefined) return Math.ceil(number.replaceAll(/\D/g, '').length / 2) + 1
  throw new Error('the size of this type is not known')
}
