import { ConditionFailed, transact, type Write } from '../db/write.ts'
import type { Outcome } from '../events/event-record.ts'
import { OutOfOrderEvent, RejectedEvent } from '../events/rejected-event.ts'
import { retry } from '../retry.ts'
import { dropFromPool, type Pool } from './address-pool.ts'
import { addressDigest, assignAddress, type NetworkAddress, readAddress } from './deposit-address.ts'
import { putAnnounced, readAssignment } from './user-address.ts'

/** The data of an event about an address that was assigned to a user. */
export interface AssignedAddress extends NetworkAddress {
  currency: string
  userId: number
  /** When it was assigned, epoch milliseconds. */
  at: number
}

/**
 * Makes an assignment that the table does not have: one that was restored to an earlier point, or is empty.
 * Of two addresses of a user in one pool both stay the user's, and the earlier is the one that they are told.
 *
 * Throws OutOfOrderEvent if the address is not provisioned yet, and RejectedEvent if it is another user's.
 */
export const recordAssignment = (assigned: AssignedAddress): Promise<Outcome> =>
  // ConditionFailed: a request has assigned this address, or another one to this user, since they were read.
  retry(
    () => tryToRecord(assigned),
    (error) => error instanceof ConditionFailed,
  )

async function tryToRecord(assigned: AssignedAddress): Promise<Outcome> {
  const { userId, at, currency, network } = assigned
  const pool: Pool = { currency, network }
  const digest = addressDigest(assigned)
  const [item, known] = await Promise.all([readAddress(digest), readAssignment(userId, pool)])
  if (item === undefined) throw new OutOfOrderEvent('unknown_address', 'the address is not provisioned')
  if (item.currency !== currency) throw new RejectedEvent('wrong_currency')
  if (item.user_id !== undefined && item.user_id !== userId)
    throw new RejectedEvent('conflicting_content', 'the address is assigned to another user')
  const isEarliest = known === undefined || at < known.address.created_at
  const writes: Write[] = [
    ...(item.user_id === undefined ? [assignAddress(digest, userId), dropFromPool(pool, digest)] : []),
    ...(isEarliest ? [putAnnounced(userId, pool, item, at)] : []),
  ]
  if (writes.length === 0) return 'duplicate'
  await transact(writes)
  return 'applied'
}
