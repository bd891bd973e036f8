import { transact } from '../../shared/db/write.ts'
import {
  addressDigest,
  assignAddress,
  assignmentKey,
  dropFromPool,
  readAddress,
} from '../../shared/deposits/address.ts'
import { AddressTag, ChainAddress } from '../../shared/deposits/identity.ts'
import { addressAssigned, putAnnounced, readAssignment } from '../../shared/deposits/user-address.ts'
import { findOutcome } from '../../shared/events/event-record.ts'
import { intake } from '../../shared/events/intake.ts'
import { RejectedEvent } from '../../shared/events/rejected-event.ts'
import { CurrencyCode, Instant, membersOf, UserId } from '../../shared/fields.ts'

/**
 * Assigns a deposit address to a user. The service sends this event after it has assigned the address, so the
 * event changes something only if that assignment was lost. A user with two addresses for one currency and
 * network keeps both, and sees the one that was assigned first.
 */
export const handler = intake({
  detailType: addressAssigned,
  detail: membersOf({
    address: ChainAddress,
    tag: AddressTag,
    currency: CurrencyCode,
    currency_network: CurrencyCode,
    user_id: UserId,
    at: Instant,
  }),
  key: ({ address, tag, currency_network: network }) => assignmentKey({ network, address, tag }),
  rejections: ['unknown_address', 'wrong_currency'],
  async apply({ user_id: userId, at, currency, currency_network: network, address, tag }, record) {
    const pool = { currency, network }
    const digest = addressDigest({ network, address, tag })
    const [item, known] = await Promise.all([
      readAddress(digest),
      readAssignment(userId, pool),
      // The address tells whose it is, but only the record of this key which events were refused.
      findOutcome(record),
    ])
    if (item === undefined) throw new RejectedEvent('unknown_address', 'the address is not provisioned')
    if (item.currency !== currency) throw new RejectedEvent('wrong_currency')
    if (item.user_id !== undefined && item.user_id !== userId)
      throw new RejectedEvent('conflicting_content', 'the address is assigned to another user')
    const isEarliest = known === undefined || at < known.address.created_at
    const writes = [
      ...(item.user_id === undefined ? [assignAddress(digest, userId), dropFromPool(pool, digest)] : []),
      ...(isEarliest ? [putAnnounced(userId, pool, item, at)] : []),
    ]
    if (writes.length === 0) return { outcome: 'duplicate' }
    await transact(writes)
    return { outcome: 'applied' }
  },
})
