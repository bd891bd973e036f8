import * as v from 'valibot'

/**
 * Every rejection code and its meaning. A dead letter's `reason` begins with the code. The AsyncAPI document
 * takes codes and meanings from this table.
 */
export const rejectionReasons = {
  malformed_event: 'the message is not a JSON object',
  too_complex: 'the message is nested too deep or has too many values',
  invalid_detail: 'a field of the detail is missing or not valid',
  conflicting_content: 'this business key was used before with other content',
  unknown_user: 'the user is not registered',
  unknown_referrer: 'the referrer is not registered',
  own_referrer: 'a user cannot refer themself',
  user_exists: 'this user_id is registered already',
  email_taken: 'the email address belongs to another user',
  insufficient_balance: 'the balance would be negative',
  insufficient_hold: 'the hold would be negative',
  balance_too_large: 'a balance would have more than 38 digits',
  too_many_currencies: 'the wallet would hold more than 100 currencies',
  too_many_reward_types: 'the user would have more than 500 pairs of reward type and currency',
  unknown_quote: 'the rates are not in the quote currency of this deployment',
  address_taken: 'an address of the batch came in another batch before',
  unknown_address: 'the address is not assigned to any user',
  wrong_currency: 'the address is for another currency',
  expired: 'the code expired before it could be mailed',
  mail_refused: 'the mail service does not deliver to this address',
  unavailable: 'a service that this one depends on was down or throttled at every try',
  internal: 'the service failed at every try; its log says why',
} as const
export const RejectionReason = v.picklist(Object.keys(rejectionReasons) as (keyof typeof rejectionReasons)[])
export type RejectionReason = v.InferOutput<typeof RejectionReason>

/** Rejection codes that are common to all event types; each type declares its own in addition. */
export const commonRejections: readonly RejectionReason[] = [
  'malformed_event',
  'too_complex',
  'invalid_detail',
  'conflicting_content',
  'unavailable',
  'internal',
]

/** A dead letter's `reason`: a code and a text. The text quotes nothing of the event. */
export const rejectionText = (code: RejectionReason, explanation: string = rejectionReasons[code]): string =>
  `${code}: ${explanation}`

class UnappliedEvent extends Error {
  readonly code: RejectionReason
  readonly explanation: string

  constructor(code: RejectionReason, explanation: string = rejectionReasons[code]) {
    super(rejectionText(code, explanation))
    this.code = code
    this.explanation = explanation
  }
}

/**
 * Error for an event that can never be applied. The event changes nothing, and goes whole to the dead-letter
 * queue, without a retry. The explanation names fields and rules, never contents.
 */
export class RejectedEvent extends UnappliedEvent {
  override readonly name = 'RejectedEvent'
}

/**
 * Error for an event that arrived before an event that it needs, such as its user's registration. After a few
 * tries, the event goes to the dead-letter queue, from where a redrive applies it.
 */
export class OutOfOrderEvent extends UnappliedEvent {
  override readonly name = 'OutOfOrderEvent'
}
