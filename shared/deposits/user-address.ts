import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer } from '../db/table.ts'
import { ConditionFailed, putNew, transact, type Write } from '../db/write.ts'
import { emitMetric } from '../emit-metric.ts'
import { Failure, invalidParameter } from '../errors.ts'
import { log } from '../log.ts'
import { retry } from '../retry.ts'
import { settings } from '../settings.ts'
import {
  countFreeAddresses,
  findFreeAddress,
  type Pool,
  poolExists,
  takeFreeAddress,
} from './address-pool.ts'
import { assignAddress, readAddress } from './deposit-address.ts'

/** Answer with a user's own deposit address for a currency on a network. */
export const UserAddress = v.object({
  currency: v.string(),
  currency_network: v.string(),
  address: v.string(),
  tag: v.nullable(v.string()),
  required_confirmations: v.number(),
  /** When the address was assigned to the user, epoch milliseconds. */
  created_at: v.number(),
})
export type UserAddress = v.InferOutput<typeof UserAddress>

const UserAddressItem = v.object({
  ...UserAddress.entries,
  required_confirmations: Integer,
  created_at: Integer,
})

const userAddressKeys = itemType({
  pk: 'ADDRS#{userId}',
  sk: '{currency}#{network}',
  holds: 'the deposit address that a user was given for a currency on a network',
  found: 'by user, currency and network',
})
const userAddressKey = (userId: number, pool: Pool) => userAddressKeys.key({ userId, ...pool })

/** Reads the deposit address that a user was given; undefined before their first request. */
export async function readUserAddress(
  userId: number,
  pool: Pool,
  { consistent = false } = {},
): Promise<UserAddress | undefined> {
  const item = await readItem(userAddressKey(userId, pool), { consistent })
  return item === undefined ? undefined : v.parse(UserAddressItem, item)
}

/** The write that records a user's deposit address; its condition fails if they already have one. */
const putUserAddress = (userId: number, pool: Pool, address: UserAddress): Write =>
  putNew({ ...userAddressKey(userId, pool), ...address })

/**
 * Assigns a user a deposit address from the pool, in one transaction. However many requests arrive at once, a
 * user gets one address, and an address is assigned to one user.
 *
 * Throws `invalid_parameter` for a currency or network that the service does not have, and `unavailable` when
 * the pool is empty or every attempt lost its address to another user.
 */
export async function claimAddress(userId: number, pool: Pool): Promise<UserAddress> {
  const claim = async () => {
    const assigned = await readUserAddress(userId, pool, { consistent: true })
    return assigned ?? takeAddress(userId, pool)
  }
  try {
    return await retry(claim, (error) => error instanceof ConditionFailed)
  } catch (error) {
    throw error instanceof ConditionFailed ? new Failure('unavailable', { retryAfterSeconds: 1 }) : error
  }
}

/** Assigns a free address. Throws ConditionFailed if another request took it or was faster. */
async function takeAddress(userId: number, pool: Pool): Promise<UserAddress> {
  const digest = await findFreeAddress(pool)
  if (digest === undefined) return failEmpty(userId, pool)
  const item = await readAddress(digest)
  if (item === undefined) throw new Error('the pool holds an address that does not exist')
  const address: UserAddress = {
    currency: item.currency,
    currency_network: item.currency_network,
    address: item.address,
    tag: item.tag ?? null,
    required_confirmations: item.required_confirmations,
    created_at: Date.now(),
  }
  await transact([
    takeFreeAddress(pool, digest),
    assignAddress(digest, userId),
    putUserAddress(userId, pool, address),
  ])
  await checkPoolLevel(pool)
  return address
}

/** Emits the metric of a low pool: an alarm is raised in time to provision more addresses. */
async function checkPoolLevel(pool: Pool): Promise<void> {
  const lowMark = settings().addressPoolLowMark
  const left = await countFreeAddresses(pool, lowMark)
  if (left >= lowMark) return
  log.warn('address pool is low', { currency: pool.currency, currency_network: pool.network, left })
  emitMetric('AddressPoolLow', 1)
}

async function failEmpty(userId: number, pool: Pool): Promise<UserAddress> {
  // The pool is empty. Another request of this user may have taken the last address, so look once more.
  const assigned = await readUserAddress(userId, pool, { consistent: true })
  if (assigned !== undefined) return assigned
  if (!(await poolExists(pool))) throw invalidParameter('currencyNetWork', 'is not offered for this currency')
  log.error('address pool is empty', { currency: pool.currency, currency_network: pool.network })
  emitMetric('AddressPoolEmpty', 1)
  throw new Failure('unavailable', { retryAfterSeconds: 60 })
}
