import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { findItem } from '../db/read.ts'
import { Integer, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import type { itemFields } from './identity.ts'

const users = itemType({
  pk: 'USER#{userId}',
  sk: 'USER',
  holds: 'a user: name, address, referrer, and for each field the stamp of its last update',
  found: 'by user',
})

/** Key of the item of a user. */
export const userKey = (userId: number): Key => users.key({ userId })

/** A user as stored. */
const User = v.object({
  nickname: v.string(),
  email: v.string(),
  userId: Integer,
  referrerId: v.optional(Integer),
  /** Instant of registration, epoch milliseconds. */
  registeredAt: Integer,
  /** The stamp of each field's last update. As text, stamps sort in the order of the updates. */
  stamps: v.record(v.string(), v.string()),
} satisfies Record<keyof (typeof itemFields)['user'], v.GenericSchema> & v.ObjectEntries)
export type User = v.InferOutput<typeof User>

/** Reads a user by id; undefined if there is none. Without `consistent`, may miss a very recent change. */
export async function readUser(
  userId: number,
  options: { consistent?: boolean } = {},
): Promise<User | undefined> {
  const item = await findItem(userKey(userId), options)
  return item && v.parse(User, item)
}

/** A condition for a transaction: the user is registered. If this is false, RejectedEvent is thrown. */
export const requireUser = (
  userId: number,
  reason: 'unknown_user' | 'unknown_referrer' = 'unknown_user',
): Write => ({
  ConditionCheck: { Key: userKey(userId), ConditionExpression: 'attribute_exists(pk)' },
  otherwise: () => new RejectedEvent(reason),
})
