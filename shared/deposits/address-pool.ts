import { randomBytes } from 'node:crypto'
import { itemType } from '../db/item-type.ts'
import { queryFirst, queryItems, readItem } from '../db/read.ts'
import { indexName } from '../db/table-layout.ts'
import type { Item, Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'

/** A pool of free deposit addresses for one currency on one network. */
export interface Pool {
  currency: string
  network: string
}

const poolKeys = itemType({
  pk: 'POOL#{currency}#{network}',
  sk: 'POOL',
  gpk: 'POOLS',
  gsk: '{currency}#{network}',
  holds: 'nothing: it tells that addresses of this currency and network were provisioned',
  found: 'by currency and network; all of them in the index',
})
const freeKeys = itemType({
  pk: 'POOL#{currency}#{network}',
  sk: 'FREE#{digest}',
  holds: 'nothing: it tells that this address is free',
  found: 'some address of a pool by a range of digests',
})
const heldKeys = itemType({
  pk: 'POOL#{currency}#{network}',
  sk: 'HELD#{digest}',
  holds: 'nothing: it tells that this address was free in a restored table, and may have been assigned since',
  found: 'by a range of digests, like the free ones',
})
const freePrefix = freeKeys.sortKeyPrefix

/** The list of all pools, as a partition of the index. */
const listPartition = 'POOLS'

/** Whether deposit addresses were ever provisioned for a currency on a network. */
export const poolExists = async (pool: Pool): Promise<boolean> =>
  (await readItem(poolKeys.key({ ...pool }), { consistent: true })) !== undefined

/** The write that creates an address pool, or leaves an existing one unchanged. */
export const putPool = (pool: Pool): Write => ({
  Put: {
    Item: { ...poolKeys.key({ ...pool }), gpk: listPartition, gsk: `${pool.currency}#${pool.network}` },
  },
})

/** Lists every pool. Eventually consistent. */
export async function listPools(): Promise<Pool[]> {
  const query = {
    IndexName: indexName,
    KeyConditionExpression: 'gpk = :list',
    ExpressionAttributeValues: { ':list': listPartition },
  }
  const pools: Pool[] = []
  for await (const { gsk } of queryItems(query)) {
    const [currency = '', network = ''] = String(gsk).split('#')
    pools.push({ currency, network })
  }
  return pools
}

/** The write that adds a free address to its pool. */
export const putFreeAddress = (pool: Pool, digest: string): Write => ({
  Put: { Item: freeKeys.key({ ...pool, digest }) },
})

/** The write that takes an address out of its pool; its condition fails if another claim took it first. */
export const takeFreeAddress = (pool: Pool, digest: string): Write => ({
  Delete: { Key: freeKeys.key({ ...pool, digest }), ConditionExpression: 'attribute_exists(pk)' },
})

/** The writes that take an address out of its pool, whether it is free, held or neither. */
export const dropFromPool = (pool: Pool, digest: string): Write[] => [
  { Delete: { Key: freeKeys.key({ ...pool, digest }) } },
  { Delete: { Key: heldKeys.key({ ...pool, digest }) } },
]

/** The writes that set a free address aside, so that nobody is given it until it is released. */
export const holdAddress = (pool: Pool, digest: string): Write[] => [
  takeFreeAddress(pool, digest),
  { Put: { Item: heldItem(pool, digest) } },
]

/** The item of a held address. */
export const heldItem = (pool: Pool, digest: string): Item & Key => heldKeys.key({ ...pool, digest })

/** The digest of the address that an item of a pool sets free or aside; undefined for the pool's own item. */
export const digestOfPoolItem = ({ sk }: Item): string | undefined =>
  [freeKeys, heldKeys].flatMap(({ sortKeyPrefix: prefix }) =>
    String(sk).startsWith(prefix) ? [String(sk).slice(prefix.length)] : [],
  )[0]

/** The writes that make a held address free; the condition of the first fails if it is not held any more. */
export const releaseAddress = (pool: Pool, digest: string): Write[] => [
  { Delete: { Key: heldKeys.key({ ...pool, digest }), ConditionExpression: 'attribute_exists(pk)' } },
  putFreeAddress(pool, digest),
]

/** Yields the digests of the addresses of a pool that are free, or that are held. */
export async function* listDigests(pool: Pool, state: 'free' | 'held'): AsyncGenerator<string> {
  const { sortKeyPrefix } = state === 'free' ? freeKeys : heldKeys
  const query = {
    KeyConditionExpression: 'pk = :pool AND begins_with(sk, :state)',
    ExpressionAttributeValues: { ':pool': poolKeys.partition({ ...pool }), ':state': sortKeyPrefix },
    ConsistentRead: true,
  }
  for await (const { sk } of queryItems(query)) yield String(sk).slice(sortKeyPrefix.length)
}

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
