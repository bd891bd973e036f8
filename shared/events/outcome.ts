import * as v from 'valibot'
import { RejectionReason } from './rejected-event.ts'

/** What an event concerns: a deposit, a withdrawal or a bill. */
export const Subject = v.object({
  /** Id of the deposit, withdrawal or bill, as the API has it. */
  id: v.string(),
  /** Status of the deposit or withdrawal; a bill has none. */
  status: v.optional(v.string()),
})
export type Subject = v.InferOutput<typeof Subject>

/**
 * Outcome of an event: it took effect (`applied`), another event with its key and content did before
 * (`duplicate`), nobody needs its effect any more (`unneeded`), it came after a later event, which stands
 * (`overtaken`), or a withdrawal was settled that was never requested, which is alarmed.
 */
export const Outcome = v.picklist([
  'applied',
  'duplicate',
  'unneeded',
  'overtaken',
  'settled_without_request',
])
export type Outcome = v.InferOutput<typeof Outcome>

/** What became of an event. If its message is delivered again, the result is the same. */
export interface Result {
  outcome: Outcome
  /** The user whom the event concerns, if its detail does not name the user. */
  userId?: number | undefined
  /** The deposit, withdrawal or bill that the event concerns. */
  subject?: Subject | undefined
  /** When the event took effect, epoch milliseconds; undefined for one that took none. */
  at?: number | undefined
}

/** What became of an event that was refused. If its message is delivered again, the result is the same. */
export interface Refused {
  outcome: 'refused'
  reason: RejectionReason
  /** When the refusal was decided, epoch milliseconds. */
  at: number
}

/** What senders are told. Every outcome but `refused` means that nothing is to be done. */
export const outcomes = {
  applied: 'the event has taken effect',
  no_effect: 'another event with the same key and the same content has taken effect before',
  overtaken: 'the event came after a later one, which stands',
  settled_without_request: 'a withdrawal was settled that was never requested',
  refused: 'the event has changed nothing, and is in the dead-letter queue of its kind',
} as const
export const ToldOutcome = v.picklist(Object.keys(outcomes) as (keyof typeof outcomes)[])
export type ToldOutcome = v.InferOutput<typeof ToldOutcome>

/** The detail-types of the events by which the service tells outcomes. */
export const outcomeTypes = ['event.applied', 'event.refused'] as const

/** The detail of `event.applied` and `event.refused`. It holds no amounts, names or texts of the sender. */
export const OutcomeDetail = v.object({
  /** Id that the bus gave the event: the answer of PutEvents. */
  event_id: v.string(),
  detail_type: v.string(),
  /** The event's key (`x-business-key`), or the event's id if the key cannot be read. */
  business_key: v.string(),
  outcome: ToldOutcome,
  /** Code of the refusal. Its words are in the dead letter only. */
  reason: v.optional(RejectionReason),
  user_id: v.optional(v.number()),
  subject: v.optional(Subject),
  /** When this was decided, epoch milliseconds. */
  at: v.number(),
})
export type OutcomeDetail = v.InferOutput<typeof OutcomeDetail>

/** The detail-type of the event that tells an outcome. */
export const outcomeType = ({ outcome }: OutcomeDetail): (typeof outcomeTypes)[number] =>
  outcome === 'refused' ? 'event.refused' : 'event.applied'
