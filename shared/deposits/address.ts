import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { between, queryFirst, readItem, readItems } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { putNew, type Write } from '../db/write.ts'
import { foldAddress, foldTag } from './identity.ts'

/** An address and tag on a network, to which a deposit is sent. */
export interface NetworkAddress {
  network: string
  address: string
  tag?: string | undefined
}

/**
 * SHA-256 of network, address and tag, base64url; the same for all spellings of an address and tag. The keys
 * of items contain it instead of the address.
 */
export const addressDigest = ({ network, address, tag }: NetworkAddress): string =>
  createHash('sha256')
    .update(JSON.stringify([network, foldAddress(address), foldTag(tag) ?? null]))
    .digest('base64url')

/** The business key of the events that assign an address: the same for all spellings of address and tag. */
export const assignmentKey = ({ network, address, tag }: NetworkAddress): string =>
  `${network}:${foldAddress(address)}:${foldTag(tag) ?? ''}`

/** A stored deposit address of the service: free, or permanently assigned to one user. */
const AddressItem = v.object({
  currency: v.string(),
  currency_network: v.string(),
  address: v.string(),
  tag: v.optional(v.string()),
  required_confirmations: Integer,
  batch_id: v.string(),
  user_id: v.optional(Integer),
})
export type AddressItem = v.InferOutput<typeof AddressItem>

const addressKeys = itemType({
  pk: 'ADDR#{digest}',
  sk: 'ADDRESS',
  holds: 'a deposit address, free or assigned to a user',
  found: 'by SHA-256 of network, address and tag',
})

const addressKey = (digest: string): Key => addressKeys.key({ digest })

/** Parses a deposit address from its item. */
export const toAddress = (item: Item): AddressItem => v.parse(AddressItem, item)

/** Reads a deposit address by its digest; undefined for an address that the service does not have. */
export async function readAddress(digest: string): Promise<AddressItem | undefined> {
  const item = await readItem(addressKey(digest), { consistent: true })
  return item && toAddress(item)
}

/** Reads those of the given addresses that the service already has. */
export async function readAddresses(addresses: NetworkAddress[]): Promise<AddressItem[]> {
  const keys = addresses.map((address) => addressKey(addressDigest(address)))
  const items = await readItems(keys, { consistent: true })
  return items.filter((item) => item !== undefined).map(toAddress)
}

/** The write that adds a deposit address. The condition fails if the service already has the address. */
export const putAddress = (digest: string, item: AddressItem): Write =>
  putNew({ ...addressKey(digest), ...item })

/** The write that deletes an address of a batch. The condition fails if the address was assigned since. */
export const dropAddress = (digest: string, batchId: string): Write => ({
  Delete: {
    Key: addressKey(digest),
    ConditionExpression: 'batch_id = :batch AND attribute_not_exists(user_id)',
    ExpressionAttributeValues: { ':batch': batchId },
  },
})

/** The write that assigns an address to a user. The condition fails if the address is unknown or assigned. */
export const assignAddress = (digest: string, userId: number): Write => ({
  Update: {
    Key: addressKey(digest),
    UpdateExpression: 'SET user_id = :user',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(user_id)',
    ExpressionAttributeValues: { ':user': userId },
  },
})

/** Checks in a transaction that an address is not assigned to anybody. */
export const checkUnassigned = (digest: string): Write => ({
  ConditionCheck: { Key: addressKey(digest), ConditionExpression: 'attribute_not_exists(user_id)' },
})

/** A pool of free deposit addresses for one currency on one network. */
export interface Pool {
  currency: string
  network: string
}

const poolKeys = itemType({
  pk: 'POOL#{currency}#{network}',
  sk: 'POOL',
  holds: 'only its key: addresses of this currency and network were provisioned',
  found: 'by currency and network',
})
const freeKeys = itemType({
  pk: 'POOL#{currency}#{network}',
  sk: 'FREE#{digest}',
  holds: 'only its key: this address is free',
  found: 'a free address of a pool, by a range of digests',
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

/** The write that takes an address out of its pool. It does nothing if the address is not there. */
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
  const query = between(poolKeys.partition({ ...pool }), low, high)
  const [item] = await queryFirst({ ...query, ConsistentRead: true }, 1)
  return (item?.['sk'] as string | undefined)?.slice(freePrefix.length)
}

/** Counts the free addresses of a pool, up to `limit`. Eventually consistent. */
export const countFreeAddresses = async (pool: Pool, limit: number): Promise<number> =>
  (await queryFirst(freeKeys.all({ ...pool }), limit)).length
