import { BatchGetCommand, GetCommand, QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb'
import { AsyncLocalStorage } from 'node:async_hooks'
import { Failure } from '../errors.ts'
import { forEachConcurrently } from '../for-each-concurrently.ts'
import { retry } from '../retry.ts'
import { db, type Item, type Key, tableName } from './table.ts'

/** Maximum number of keys in one BatchGetItem call (AWS: BatchGetItem). */
const maxBatchKeys = 100
const batchConcurrency = 16

interface ReadOptions {
  /** Whether the read is strongly consistent, at twice the price of an eventually consistent read. */
  consistent?: boolean
}

type ReadItems = (keys: readonly Key[], options: ReadOptions) => Promise<(Item | undefined)[]>

/** The function that reads items for code inside readTogether. Outside of readTogether, it is undefined. */
const shared = new AsyncLocalStorage<ReadItems>()

/**
 * Performs work in which simultaneous reads of items share one call. The read units stay the same, but one
 * call takes much less processor time than many.
 */
export const readTogether = <Result>(work: () => Result): Result => shared.run(collectReads(), work)

/** Returns a function that collects keys until the current call stack is empty, and then reads all items. */
function collectReads(): ReadItems {
  const waiting = new Map<boolean, { keys: Key[]; items: Promise<(Item | undefined)[]> }>()
  const begin = (consistent: boolean) => {
    const keys: Key[] = []
    const items = new Promise<void>((resolve) => process.nextTick(resolve)).then(() => {
      waiting.delete(consistent)
      return readBatches(keys, { consistent })
    })
    const batch = { keys, items }
    waiting.set(consistent, batch)
    return batch
  }
  return async (wanted, { consistent = false }) => {
    const { keys, items } = waiting.get(consistent) ?? begin(consistent)
    const end = keys.push(...wanted)
    return (await items).slice(end - wanted.length, end)
  }
}

/** Reads one item by its key; undefined if it does not exist. */
export async function readItem(
  key: Key,
  { consistent = false }: ReadOptions = {},
): Promise<Item | undefined> {
  const read = shared.getStore()
  if (read !== undefined) return (await read([key], { consistent }))[0]
  const { Item } = await db.send(
    new GetCommand({ TableName: tableName(), Key: key, ConsistentRead: consistent }),
  )
  return Item
}

/**
 * Reads one item, eventually consistent, at half the price. If the item is not found, a strongly consistent
 * read follows, because the item may be new. With `consistent`, the only read is strongly consistent.
 */
export const findItem = async (
  key: Key,
  { consistent = false }: ReadOptions = {},
): Promise<Item | undefined> =>
  (await readItem(key, { consistent })) ?? (consistent ? undefined : readItem(key, { consistent: true }))

/**
 * Reads items in parallel batches. The result has each item at the index of its key, or undefined if there is
 * none. Repeats requests for unprocessed keys; throws `unavailable` if some stay unprocessed.
 */
export const readItems = (keys: readonly Key[], options: ReadOptions = {}): Promise<(Item | undefined)[]> =>
  (shared.getStore() ?? readBatches)(keys, options)

/**
 * Reads items like findItem: eventually consistent, and if one is not found, all of them again, strongly
 * consistent. The result is that of readItems.
 */
export async function findItems(keys: readonly Key[]): Promise<(Item | undefined)[]> {
  const found = await readItems(keys)
  return found.includes(undefined) ? readItems(keys, { consistent: true }) : found
}

async function readBatches(keys: readonly Key[], options: ReadOptions): Promise<(Item | undefined)[]> {
  const distinct = [...new Map(keys.map((key) => [keyText(key), key])).values()]
  const batches: Key[][] = []
  for (let i = 0; i < distinct.length; i += maxBatchKeys) batches.push(distinct.slice(i, i + maxBatchKeys))
  const found = new Map<string, Item>()
  await forEachConcurrently(batches, Math.min(batchConcurrency, batches.length), async (batch) => {
    for (const item of await readBatch(batch, options)) found.set(keyText(item), item)
  })
  return keys.map((key) => found.get(keyText(key)))
}

/** Formats a key, or the key of an item, as text. */
export const keyText = (key: Partial<Key>): string => `${String(key.pk)} ${String(key.sk)}`

async function readBatch(keys: Key[], { consistent = false }: ReadOptions): Promise<Item[]> {
  const items: Item[] = []
  let pending: Item[] = keys.map(({ pk, sk }) => ({ pk, sk }))
  const unprocessed = new Failure('unavailable', { retryAfterSeconds: 1 })
  await retry(
    async () => {
      const { Responses, UnprocessedKeys } = await db.send(
        new BatchGetCommand({
          RequestItems: { [tableName()]: { Keys: pending, ConsistentRead: consistent } },
        }),
      )
      items.push(...(Responses?.[tableName()] ?? []))
      pending = UnprocessedKeys?.[tableName()]?.Keys ?? []
      if (pending.length > 0) throw unprocessed
    },
    (error) => error === unprocessed,
  )
  return items
}

/** The key condition of a query for the items of a partition between two sort keys, both included. */
export const between = (pk: string, first: string, last: string) => ({
  KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
  ExpressionAttributeValues: { ':pk': pk, ':first': first, ':last': last },
})

/**
 * Yields the items of a query in order, and reads a page only when the caller needs it. `Limit` applies to
 * each page, not to the result. To read fewer items, stop iterating.
 */
export async function* queryItems(query: Omit<QueryCommandInput, 'TableName'>): AsyncGenerator<Item> {
  let ExclusiveStartKey: Item | undefined
  do {
    const page = await db.send(
      new QueryCommand({ ...query, TableName: tableName(), ...(ExclusiveStartKey && { ExclusiveStartKey }) }),
    )
    yield* page.Items ?? []
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey !== undefined)
}

/** Reads the first items of a query, at most `limit`, in one call. The answer must stay under 1 MB. */
export async function queryFirst(
  query: Omit<QueryCommandInput, 'TableName' | 'Limit'>,
  limit: number,
): Promise<Item[]> {
  const { Items = [] } = await db.send(new QueryCommand({ ...query, TableName: tableName(), Limit: limit }))
  return Items
}
