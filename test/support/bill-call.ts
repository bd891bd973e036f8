import { type AttributeValue, BatchGetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { listTableUses } from '../../infra/local/aws/dynamodb/requests.ts'
import {
  billedReadUnits,
  billedWriteUnits,
  grownBytes,
  type ReadKind,
  type WrittenItem,
} from './billed-units.ts'
import { itemBytes, type WireItem } from './item-bytes.ts'

/** What AWS would charge for calls to DynamoDB, and how much the calls permanently add to the table. */
export interface Bill {
  readUnits: number
  writeUnits: number
  /** Bytes and items that the calls added, not counting those that expire. */
  keptBytes: number
  keptItems: number
}

/** A call to DynamoDB as it is sent, with the types of its values. */
export interface SentCall {
  operation: string
  input: object
}

interface ItemKey {
  pk: AttributeValue
  sk: AttributeValue
}

/** A cost of zero, with which a sum begins. */
export const noBill: Bill = { readUnits: 0, writeUnits: 0, keptBytes: 0, keptItems: 0 }

/** Adds up the costs of calls. */
export const addBills = (bills: readonly Bill[]): Bill =>
  bills.reduce(
    (sum, bill) => ({
      readUnits: sum.readUnits + bill.readUnits,
      writeUnits: sum.writeUnits + bill.writeUnits,
      keptBytes: sum.keptBytes + bill.keptBytes,
      keptItems: sum.keptItems + bill.keptItems,
    }),
    noBill,
  )

/**
 * Makes a DynamoDB call with `send`, and computes what AWS would charge. A read is charged by the size of its
 * items. A write is charged by the size of each item before or after the write, whichever is larger.
 */
export async function billCall<Answer>(
  database: DynamoDBClient,
  table: string,
  { operation, input }: SentCall,
  send: () => Promise<{ answer: Answer; body: object }>,
): Promise<{ answer: Answer; bill: Bill }> {
  const read = (keys: readonly ItemKey[]) => readItems(database, table, keys)
  if (/^(Put|Update|Delete|TransactWrite|BatchWrite)/.test(operation)) {
    const keys = listTableUses(operation, input).map(({ attributes }) => keyOf(attributes))
    const before = await read(keys)
    const { answer } = await send()
    const after = await read(keys)
    const items = keys.map((_key, i) => ({ before: before[i], after: after[i] }))
    return { answer, bill: billWrites(operation, items) }
  }
  const { answer, body } = await send()
  if (operation === 'Query') return { answer, bill: { ...noBill, readUnits: billQuery(input, body) } }
  const keys = readKeys(input)
  const items = await read(keys.map(({ key }) => key))
  const units = keys.map(({ kind }, i) => billedReadUnits(bytesOf(items[i]), kind))
  return { answer, bill: { ...noBill, readUnits: sumOf(units) } }
}

const keyOf = ({ pk, sk }: Record<string, unknown>): ItemKey => ({ pk, sk }) as ItemKey
const bytesOf = (item: WireItem | undefined): number => (item === undefined ? 0 : itemBytes(item))
const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)

function billWrites(operation: string, items: readonly WrittenItem[]): Bill {
  const inTransaction = operation === 'TransactWriteItems'
  const kept = items.map(({ before, after }) => ({
    before: withoutExpiring(before),
    after: withoutExpiring(after),
  }))
  const countOf = (item: WireItem | undefined) => (item === undefined ? 0 : 1)
  return {
    readUnits: 0,
    writeUnits: sumOf(items.map((item) => billedWriteUnits(item, inTransaction))),
    keptBytes: sumOf(kept.map(grownBytes)),
    keptItems: sumOf(kept.map(({ before, after }) => countOf(after) - countOf(before))),
  }
}

/** An item that expires adds nothing to the table in the long run. */
const withoutExpiring = (item: WireItem | undefined): WireItem | undefined =>
  item?.['ttl'] === undefined ? item : undefined

/**
 * Returns the read units that DynamoDB Local reports for a Query. An empty Query costs one read, too. The
 * items in the answer do not tell the units, because a filter may have left some out.
 */
function billQuery({ ConsistentRead = false }: { ConsistentRead?: boolean }, body: object): number {
  const { ConsumedCapacity } = body as { ConsumedCapacity?: { CapacityUnits?: number } }
  const least = billedReadUnits(0, ConsistentRead ? 'consistent' : 'eventual')
  return Math.max(ConsumedCapacity?.CapacityUnits ?? 0, least)
}

/** Lists the keys of the items that a call reads, and how each item is read. */
function readKeys(input: object): { key: ItemKey; kind: ReadKind }[] {
  const {
    Key,
    ConsistentRead,
    RequestItems = {},
    TransactItems = [],
  } = input as {
    Key?: ItemKey
    ConsistentRead?: boolean
    RequestItems?: Record<string, { Keys?: ItemKey[]; ConsistentRead?: boolean }>
    TransactItems?: { Get?: { Key: ItemKey } }[]
  }
  const kindOf = (consistent = false): ReadKind => (consistent ? 'consistent' : 'eventual')
  const inTransaction = TransactItems.flatMap(({ Get }) => (Get === undefined ? [] : [Get.Key]))
  return [
    ...(Key === undefined ? [] : [{ key: Key, kind: kindOf(ConsistentRead) }]),
    ...Object.values(RequestItems).flatMap(({ Keys = [], ConsistentRead: consistent }) =>
      Keys.map((key) => ({ key, kind: kindOf(consistent) })),
    ),
    ...inTransaction.map((key) => ({ key, kind: 'transaction' as const })),
  ]
}

const maxBatchKeys = 100

async function readItems(
  database: DynamoDBClient,
  table: string,
  keys: readonly ItemKey[],
): Promise<(WireItem | undefined)[]> {
  const found = new Map<string, WireItem>()
  const nameOf = ({ pk, sk }: Partial<ItemKey>) => JSON.stringify([pk, sk])
  const distinct = [...new Map(keys.map(({ pk, sk }) => [nameOf({ pk, sk }), { pk, sk }])).values()]
  for (let i = 0; i < distinct.length; i += maxBatchKeys) {
    const Keys = distinct.slice(i, i + maxBatchKeys)
    const { Responses = {} } = await database.send(
      new BatchGetItemCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
    )
    for (const item of Responses[table] ?? []) found.set(nameOf(item), item)
  }
  return keys.map((key) => found.get(nameOf(key)))
}
