import * as v from 'valibot'

/**
 * When a reason of refusal is final. `at once`: no later event changes it. `after a minute`: an event that is
 * on its way may make it good, because the bus keeps no order. `after all tries`: the service has failed for
 * hours, and the event is not to blame.
 */
export type Finality = 'at once' | 'after a minute' | 'after all tries'

interface Reason {
  means: string
  final: Finality
}

const atOnce = (means: string) => ({ means, final: 'at once' }) as const
const afterAMinute = (means: string) => ({ means, final: 'after a minute' }) as const
const afterAllTries = (means: string) => ({ means, final: 'after all tries' }) as const

/**
 * Every rejection code, its meaning, and when it is final. A dead letter's `reason` begins with the code. The
 * AsyncAPI document takes all of it from this table.
 */
export const rejectionReasons = {
  malformed_event: atOnce('the message is not a JSON object'),
  too_complex: atOnce('the message is nested too deep or has too many values'),
  invalid_detail: atOnce('a field of the detail is missing or not valid'),
  conflicting_content: atOnce('this business key was used before with other content'),
  contradicts_final_status: atOnce('the deposit or withdrawal has another final status'),
  unknown_user: afterAMinute('the user is not registered'),
  unknown_referrer: afterAMinute('the referrer is not registered'),
  own_referrer: atOnce('a user cannot refer themself'),
  user_exists: atOnce('this user_id is registered already'),
  // The other user may be about to give it up.
  email_taken: afterAMinute('the email address belongs to another user'),
  insufficient_balance: afterAMinute('the balance would be negative'),
  insufficient_hold: afterAMinute('the hold would be negative'),
  // A debit may be on its way, or the end of another withdrawal.
  balance_too_large: afterAMinute('a balance would have more than 38 digits'),
  // A wallet keeps its currencies and a user the types of rewards, so these stay true.
  too_many_currencies: atOnce('the wallet would hold more than 100 currencies'),
  too_many_reward_types: atOnce('the user would have more than 500 pairs of reward type and currency'),
  unknown_quote: atOnce('the rates are not in the quote currency of this deployment'),
  address_taken: atOnce('an address of the batch came in another batch before'),
  // An import sends addresses, their assignments and their deposits together.
  unknown_address: afterAMinute('the address is not assigned to any user'),
  wrong_currency: atOnce('the address is for another currency'),
  expired: atOnce('the code expired before it could be mailed'),
  mail_refused: atOnce('the mail service does not deliver to this address'),
  unavailable: afterAllTries('a service that this one depends on was down or throttled at every try'),
  internal: afterAllTries('the service failed at every try; its log says why'),
} as const satisfies Record<string, Reason>
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
export const rejectionText = (
  code: RejectionReason,
  explanation: string = rejectionReasons[code].means,
): string => `${code}: ${explanation}`

/**
 * Error for an event that cannot be applied as things stand. The event changes nothing. If its reason is
 * final, it goes whole to the dead-letter queue, without a retry; otherwise it is tried again until it has
 * waited a minute. The explanation names fields and rules, never contents.
 */
export class RejectedEvent extends Error {
  override readonly name = 'RejectedEvent'
  readonly code: RejectionReason
  readonly explanation: string

  constructor(code: RejectionReason, explanation: string = rejectionReasons[code].means) {
    super(rejectionText(code, explanation))
    this.code = code
    this.explanation = explanation
  }

  /** Whether the event came too early, perhaps: a later event may make good what is missing. */
  get mayPass(): boolean {
    return rejectionReasons[this.code].final === 'after a minute'
  }
}
