import { BatchGetCommand } from '@aws-sdk/lib-dynamodb'
import { setTimeout as wait } from 'node:timers/promises'
import { db, type Key, tableName } from './table.ts'

type Item = Record<string, unknown>

const attempts = 5

/**
 * Reads up to 100 items in one call, in the order of their keys, `undefined` where there is none. What a throttled table
 * leaves out is asked for again, with a growing pause and a bound.
 */
export async function getItems(
  keys: readonly Key[],
  { consistent = false }: { consistent?: boolean } = {},
): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>()
  let missing: readonly Record<string, unknown>[] = keys.map(({ pk, sk }) => ({ pk, sk }))
  for (let attempt = 1; missing.length > 0; attempt += 1) {
    if (attempt > attempts)
      throw Object.assign(new Error('keys stay unread'), { name: 'ThrottlingException' })
    if (attempt > 1) await wait(Math.random() * 25 * 2 ** attempt)
    const { Responses, UnprocessedKeys } = await db.send(
      new BatchGetCommand({
        RequestItems: { [tableName()]: { Keys: [...missing], ConsistentRead: consistent } },
      }),
    )
    for (const item of Responses?.[tableName()] ?? []) found.set(identity(item), item)
    missing = UnprocessedKeys?.[tableName()]?.Keys ?? []
  }
  return keys.map((key) => found.get(identity({ ...key })))
}

const identity = ({ pk, sk }: Item): string => JSON.stringify([pk, sk])
