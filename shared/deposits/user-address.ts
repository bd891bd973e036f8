import * as v from 'valibot'
import { Integer, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import type { Pool } from './address-pool.ts'
import { readItem } from '../db/read.ts'

/** A user's own deposit address for a currency on a network. */
export const UserAddress = v.object({
  currency: v.string(),
  currency_network: v.string(),
  address: v.string(),
  tag: v.nullable(v.string()),
  required_confirmations: v.number(),
  /** Instant of assignment, epoch milliseconds. */
  created_at: v.number(),
})
export type UserAddress = v.InferOutput<typeof UserAddress>

const UserAddressItem = v.object({
  ...UserAddress.entries,
  required_confirmations: Integer,
  created_at: Integer,
})

const userAddressKey = (userId: number, { currency, network }: Pool): Key => ({
  pk: `ADDRS#${userId}`,
  sk: `${currency}#${network}`,
})

/** The address that a user was given, or undefined before their first request. */
export async function readUserAddress(
  userId: number,
  pool: Pool,
  { consistent = false } = {},
): Promise<UserAddress | undefined> {
  const item = await readItem(userAddressKey(userId, pool), { consistent })
  return item === undefined ? undefined : v.parse(UserAddressItem, item)
}

/** The write that gives a user their address; its condition fails where they have one already. */
export const putUserAddress = (userId: number, address: UserAddress): Write => ({
  Put: {
    Item: {
      ...userAddressKey(userId, { currency: address.currency, network: address.currency_network }),
      ...address,
    },
    ConditionExpression: 'attribute_not_exists(pk)',
  },
})
