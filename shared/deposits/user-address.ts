import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer, type Key } from '../db/table.ts'
import { ConditionFailed, putNew, transact, type Write, writeItem } from '../db/write.ts'
import { emitMetric } from '../emit-metric.ts'
import { Failure, invalidParameter } from '../errors.ts'
import { publishEvent } from '../events/publish-event.ts'
import { log } from '../log.ts'
import { retry } from '../retry.ts'
import {
  type AddressItem,
  assignAddress,
  countFreeAddresses,
  dropFromPool,
  findFreeAddress,
  type Pool,
  poolExists,
  readAddress,
} from './address.ts'

/** The detail-type of the event with which the service records that it assigned an address. */
export const addressAssigned = 'address.assigned'

/** Response data: a user's own deposit address for a currency on a network. */
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
  /** Time at which the service recorded that the assignment's event is on the bus, epoch milliseconds. */
  announced_at: v.optional(Integer),
})

/** A user's deposit address; the user sees it when the assignment's event is on the bus (see `announced`). */
interface Assignment {
  address: UserAddress
  announced: boolean
}

const userAddressKeys = itemType({
  pk: 'ADDRS#{userId}',
  sk: '{currency}#{network}',
  holds: 'the deposit address that a user was given for a currency on a network',
  found: 'by user, currency and network',
})

const userAddressKey = (userId: number, { currency, network }: Pool): Key =>
  userAddressKeys.key({ userId, currency, network })

/** Reads the deposit address that is assigned to a user; undefined before their first request. */
export async function readAssignment(
  userId: number,
  pool: Pool,
  { consistent = true } = {},
): Promise<Assignment | undefined> {
  const item = await readItem(userAddressKey(userId, pool), { consistent })
  if (item === undefined) return undefined
  const { announced_at: announcedAt, ...address } = v.parse(UserAddressItem, item)
  return { address, announced: announcedAt !== undefined }
}

/** Reads a user's deposit address with an eventually consistent read; undefined until it may be shown. */
export async function readUserAddress(userId: number, pool: Pool): Promise<UserAddress | undefined> {
  const assignment = await readAssignment(userId, pool, { consistent: false })
  return assignment?.announced ? assignment.address : undefined
}

const toUserAddress = (item: AddressItem, createdAt: number): UserAddress => ({
  currency: item.currency,
  currency_network: item.currency_network,
  address: item.address,
  tag: item.tag ?? null,
  required_confirmations: item.required_confirmations,
  created_at: createdAt,
})

/**
 * Assigns a user a deposit address from the pool, in one transaction. Simultaneous requests never give a user
 * two addresses, or two users one address. The event of the assignment is on the bus before the user sees the
 * address, so that a replay can repeat the assignment after a restore.
 *
 * Throws `invalid_parameter` if the service does not offer the currency or network. Throws `unavailable` if
 * the pool is empty, or if other requests were faster at every attempt.
 */
export async function claimAddress(userId: number, pool: Pool): Promise<UserAddress> {
  const claim = async () => (await readAssignment(userId, pool)) ?? takeAddress(userId, pool)
  try {
    const { address, announced } = await retry(claim, (error) => error instanceof ConditionFailed)
    if (!announced) await announce(userId, pool, address)
    return address
  } catch (error) {
    throw error instanceof ConditionFailed ? new Failure('unavailable', { retryAfterSeconds: 1 }) : error
  }
}

/** Publishes the event of an assignment, then records that the event is on the bus. Safe to repeat. */
async function announce(userId: number, pool: Pool, assigned: UserAddress): Promise<void> {
  const { currency, currency_network, address, tag, created_at: at } = assigned
  await publishEvent(addressAssigned, { address, tag, currency, currency_network, user_id: userId, at })
  await writeItem({
    Update: {
      Key: userAddressKey(userId, pool),
      UpdateExpression: 'SET announced_at = :now',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':now': Date.now() },
    },
  })
}

/** Assigns a free address. Throws ConditionFailed if another request took it or gave this user an address. */
async function takeAddress(userId: number, pool: Pool): Promise<Assignment> {
  const digest = await findFreeAddress(pool)
  if (digest === undefined) return failEmpty(userId, pool)
  const item = await readAddress(digest)
  if (item === undefined) throw new Error('the pool holds an address that does not exist')
  const address = toUserAddress(item, Date.now())
  await transact([
    dropFromPool(pool, digest),
    assignAddress(digest, userId),
    putNew({ ...userAddressKey(userId, pool), ...address }),
  ])
  await checkPoolLevel(pool)
  return { address, announced: false }
}

/** An alarm is raised when a pool has fewer free addresses than this. */
const lowMark = 100

/** Emits a metric if a pool is low, so that an alarm comes in time to provision more addresses. */
async function checkPoolLevel(pool: Pool): Promise<void> {
  const left = await countFreeAddresses(pool, lowMark)
  if (left >= lowMark) return
  log.warn('address pool is low', { currency: pool.currency, currency_network: pool.network, left })
  emitMetric('AddressPoolLow', 1)
}

async function failEmpty(userId: number, pool: Pool): Promise<Assignment> {
  // Since the first read, another request may have assigned the last address of the pool to this user.
  const assigned = await readAssignment(userId, pool)
  if (assigned !== undefined) return assigned
  if (!(await poolExists(pool))) throw invalidParameter('currencyNetWork', 'is not offered for this currency')
  log.error('address pool is empty', { currency: pool.currency, currency_network: pool.network })
  emitMetric('AddressPoolLow', 1)
  throw new Failure('unavailable', { retryAfterSeconds: 60 })
}

/**
 * The write that records an assignment from an event. It succeeds only if no assignment is stored for the
 * user in the pool, or if the stored assignment is later, because the earliest assignment wins.
 */
export function putAnnounced(userId: number, pool: Pool, item: AddressItem, at: number): Write {
  return {
    Put: {
      Item: { ...userAddressKey(userId, pool), ...toUserAddress(item, at), announced_at: Date.now() },
      ConditionExpression: 'attribute_not_exists(pk) OR created_at > :at',
      ExpressionAttributeValues: { ':at': at },
    },
  }
}
