import * as v from 'valibot'
import { AddressTag, ChainAddress } from '../../shared/deposits/address.ts'
import { addressAssigned, recordAssignment } from '../../shared/deposits/user-address.ts'
import { CurrencyCode, Instant, UserId } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'

/**
 * Assigns a deposit address to the user to whom it was assigned before. The service sends it when it assigns
 * one, and then it changes nothing; it is for a replay into a table that has lost the assignment.
 */
export const handler = intake({
  detailType: addressAssigned,
  detail: v.object({
    address: ChainAddress,
    tag: AddressTag,
    currency: CurrencyCode,
    currency_network: CurrencyCode,
    user_id: UserId,
    at: Instant,
  }),
  key: ({ address, tag, currency_network: network }) => `${network}:${address}:${tag ?? ''}`,
  rejections: ['unknown_address', 'wrong_currency'],
  apply: recordAssignment,
})
