import { BatchGetCommand } from '@aws-sdk/lib-dynamodb'
import { setTimeout as wait } from 'node:timers/promises'
import { Failure } from '../errors.ts'
import { db, type Key, tableName } from './table.ts'

/** Most keys that one BatchGetItem takes. */
const batchSize = 100
/** Batches under way at a time. */
const concurrency = 16
const attempts = 8
const longestWaitMilliseconds = 400

export type Item = Record<string, unknown>

interface ReadOptions {
  consistent?: boolean
  /** Attributes to return; all of them unless given. Names must be no reserved words. */
  attributes?: string
}

/**
 * Reads many items by their keys, in batches side by side, each item in the place of its key and undefined where there is
 * none. What DynamoDB leaves over is asked for again, with jitter and a bound.
 */
export async function readItems(
  keys: readonly Key[],
  options: ReadOptions = {},
): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>()
  const distinct = [...new Map(keys.map((key) => [nameOf(key), key])).values()]
  const batches: Key[][] = []
  for (let i = 0; i < distinct.length; i += batchSize) batches.push(distinct.slice(i, i + batchSize))
  const work = batches.values()
  await Promise.all(
    Array.from({ length: Math.min(concurrency, batches.length) }, async () => {
      for (const batch of work)
        for (const item of await readBatch(batch, options)) found.set(nameOf(item), item)
    }),
  )
  return keys.map((key) => found.get(nameOf(key)))
}

const nameOf = (key: Partial<Key>): string => `${String(key.pk)} ${String(key.sk)}`

async function readBatch(keys: Key[], { consistent = false, attributes }: ReadOptions): Promise<Item[]> {
  const items: Item[] = []
  let pending: Item[] = keys.map(({ pk, sk }) => ({ pk, sk }))
  for (let attempt = 1; pending.length > 0; attempt += 1) {
    if (attempt > attempts) throw new Failure('unavailable', { retryAfterSeconds: 1 })
    if (attempt > 1) await wait(Math.random() * Math.min(longestWaitMilliseconds, 10 * 2 ** attempt))
    const { Responses, UnprocessedKeys } = await db.send(
      new BatchGetCommand({
        RequestItems: {
          [tableName()]: {
            Keys: pending,
            ConsistentRead: consistent,
            ...(attributes === undefined ? {} : { ProjectionExpression: `pk, sk, ${attributes}` }),
          },
        },
      }),
    )
    items.push(...(Responses?.[tableName()] ?? []))
    pending = UnprocessedKeys?.[tableName()]?.Keys ?? []
  }
  return items
}
