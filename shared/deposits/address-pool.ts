import { randomBytes } from 'node:crypto'
import { itemType } from '../db/item-type.ts'
import { queryFirst, readItem } from '../db/read.ts'
import type { Write } from '../db/write.ts'

/** A pool of free deposit addresses for one currency on one network. */
export interface Pool {
  currency: string
  network: string
}

const poolKeys = itemType({
  pk: 'POOL#{currency}#{network}',
  sk: 'POOL',
  holds: 'nothing: it tells that addresses of this currency and network were provisioned',
  found: 'by currency and network',
})
const freeKeys = itemType({
  pk: 'POOL#{currency}#{network}',
  sk: 'FREE#{digest}',
  holds: 'nothing: it tells that this address is free',
  found: 'some address of a pool by a range of digests',
})
/** Prefix of the sort keys of free addresses in their pool. */
export const freePrefix = freeKeys.sortKeyPrefix

/** Whether deposit addresses were ever provisioned for a currency on a network. */
export const poolExists = async (pool: Pool): Promise<boolean> =>
  (await readItem(poolKeys.key({ ...pool }), { consistent: true })) !== undefined

/** The write that creates an address pool, or leaves an existing one unchanged. */
export const putPool = (pool: Pool): Write => ({ Put: { Item: poolKeys.key({ ...pool }) } })

/** The write that adds a free address to its pool. */
export const putFreeAddress = (pool: Pool, digest: string): Write => ({
  Put: { Item: freeKeys.key({ ...pool, digest }) },
})

/** The write that takes an address out of its pool; its condition fails if another claim took it first. */
export const takeFreeAddress = (pool: Pool, digest: string): Write => ({
  Delete: { Key: freeKeys.key({ ...pool, digest }), ConditionExpression: 'attribute_exists(pk)' },
})

/** The write that takes an address out of its pool, if it is there. */
export const dropFromPool = (pool: Pool, digest: string): Write => ({
  Delete: { Key: freeKeys.key({ ...pool, digest }) },
})

/**
 * Finds the digest of a free address; undefined if the pool is empty. The search starts at a random position,
 * so that simultaneous claims rarely pick the same address. The pool keeps no counter, because every claim
 * would have to write it.
 */
export async function findFreeAddress(pool: Pool): Promise<string | undefined> {
  const start = freePrefix + randomBytes(8).toString('base64url')
  return (await firstBetween(pool, start, `${freePrefix}~`)) ?? firstBetween(pool, freePrefix, start)
}

async function firstBetween(pool: Pool, low: string, high: string): Promise<string | undefined> {
  const query = {
    KeyConditionExpression: 'pk = :pool AND sk BETWEEN :low AND :high',
    ExpressionAttributeValues: { ':pool': poolKeys.partition({ ...pool }), ':low': low, ':high': high },
    ConsistentRead: true,
  }
  const [item] = await queryFirst(query, 1)
  return (item?.['sk'] as string | undefined)?.slice(freePrefix.length)
}

/** Counts the free addresses of a pool, up to `limit`. Eventually consistent. */
export async function countFreeAddresses(pool: Pool, limit: number): Promise<number> {
  const query = {
    KeyConditionExpression: 'pk = :pool AND begins_with(sk, :free)',
    ExpressionAttributeValues: { ':pool': poolKeys.partition({ ...pool }), ':free': freePrefix },
  }
  return (await queryFirst(query, limit)).length
}
