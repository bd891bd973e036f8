import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import { randomBytes } from 'node:crypto'
import { db, type Key, tableName } from '../db/table.ts'
import type { Write } from '../db/write.ts'

/** The free addresses of a currency on a network. */
export interface Pool {
  currency: string
  network: string
}

const partition = ({ currency, network }: Pool): string => `POOL#${currency}#${network}`
const poolKey = (pool: Pool): Key => ({ pk: partition(pool), sk: 'POOL' })
const freePrefix = 'FREE#'
const freeKey = (pool: Pool, digest: string): Key => ({ pk: partition(pool), sk: freePrefix + digest })

/** Whether addresses were ever provisioned for a currency on a network. */
export async function poolExists(pool: Pool): Promise<boolean> {
  const { Item } = await db.send(
    new GetCommand({ TableName: tableName(), Key: poolKey(pool), ConsistentRead: true }),
  )
  return Item !== undefined
}

/** The write that makes a pool known. */
export const putPool = (pool: Pool): Write => ({
  Put: { TableName: tableName(), Item: poolKey(pool) },
})

/** The write that puts an address into the pool. */
export const putFree = (pool: Pool, digest: string): Write => ({
  Put: { TableName: tableName(), Item: freeKey(pool, digest) },
})

/** The write that takes an address out of the pool; its condition fails where somebody else was faster. */
export const takeFree = (pool: Pool, digest: string): Write => ({
  Delete: {
    TableName: tableName(),
    Key: freeKey(pool, digest),
    ConditionExpression: 'attribute_exists(pk)',
  },
})

/**
 * Digest of some free address, or undefined where none is left. Each caller starts at a place of their own, so that many
 * at once do not want the same one; nobody counts, so that there is no item that all of them write.
 */
export async function findFree(pool: Pool): Promise<string | undefined> {
  const start = freePrefix + randomBytes(8).toString('base64url')
  return (await firstBetween(pool, start, `${freePrefix}~`)) ?? firstBetween(pool, freePrefix, start)
}

/** How many addresses are free, counted no further than to `most`. Eventually consistent. */
export async function countFree(pool: Pool, most: number): Promise<number> {
  const { Count = 0 } = await db.send(
    new QueryCommand({
      TableName: tableName(),
      KeyConditionExpression: 'pk = :pool AND begins_with(sk, :free)',
      ExpressionAttributeValues: { ':pool': partition(pool), ':free': freePrefix },
      Select: 'COUNT',
      Limit: most,
    }),
  )
  return Count
}

async function firstBetween(pool: Pool, low: string, high: string): Promise<string | undefined> {
  const { Items = [] } = await db.send(
    new QueryCommand({
      TableName: tableName(),
      KeyConditionExpression: 'pk = :pool AND sk BETWEEN :low AND :high',
      ExpressionAttributeValues: { ':pool': partition(pool), ':low': low, ':high': high },
      Limit: 1,
      ConsistentRead: true,
    }),
  )
  return (Items[0]?.['sk'] as string | undefined)?.slice(freePrefix.length)
}
