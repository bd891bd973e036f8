import { randomBytes } from 'node:crypto'
import { type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { queryFirst, readItem } from '../db/read.ts'

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
  const item = await readItem(poolKey(pool), { consistent: true })
  return item !== undefined
}

/** The write that makes a pool known. */
export const putPool = (pool: Pool): Write => ({
  Put: { Item: poolKey(pool) },
})

/** The write that puts an address into the pool. */
export const putFree = (pool: Pool, digest: string): Write => ({
  Put: { Item: freeKey(pool, digest) },
})

/** The write that takes an address out of the pool; its condition fails where somebody else was faster. */
export const takeFree = (pool: Pool, digest: string): Write => ({
  Delete: {
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
  const query = {
    KeyConditionExpression: 'pk = :pool AND begins_with(sk, :free)',
    ExpressionAttributeValues: { ':pool': partition(pool), ':free': freePrefix },
  }
  return (await queryFirst(query, most)).length
}

async function firstBetween(pool: Pool, low: string, high: string): Promise<string | undefined> {
  const query = {
    KeyConditionExpression: 'pk = :pool AND sk BETWEEN :low AND :high',
    ExpressionAttributeValues: { ':pool': partition(pool), ':low': low, ':high': high },
    ConsistentRead: true,
  }
  const [item] = await queryFirst(query, 1)
  return (item?.['sk'] as string | undefined)?.slice(freePrefix.length)
}
