import type { RejectionReason } from './rejected-event.ts'

/** The refusal of an event. */
export interface Refusal {
  code: RejectionReason
  explanation: string
  /** When it was decided, epoch milliseconds. */
  at: number
  /** How often the event has been refused, this time included. */
  refusals: number
}

/** What tells a message that was sent again after a refusal from a copy of the refused one. */
export interface Sending {
  /** When the message was sent to the queue, epoch milliseconds. A redriven message is sent anew. */
  sentAt: number
  /** How often the event had been refused when the message was sent: 0 if the bus sent it. */
  refusals: number
}

/**
 * The message attribute of a dead letter that says how often its event has been refused. A redrive keeps it.
 * It needs no clock: that of a function may be minutes ahead of the clock of SQS.
 */
export const refusalsAttribute = 'refusals'

/** The greatest number that readRefusals returns. */
export const mostRefusals = 999_999

/** Reads the attribute of a message. Who sends to the queue by other means may leave it out. */
export const readRefusals = (text: string | undefined): number =>
  /^[1-9]\d{0,5}$/.test(text ?? '') ? Number(text) : 0

/**
 * Whether a message was sent again after a refusal. It was if it carries the number of that refusal, or was
 * sent later, as by somebody who sends the body of a dead letter alone. The release before stored no number:
 * to this one, such a refusal is the event's first.
 */
export const isSentAfter = (
  { sentAt, refusals }: Sending,
  refusal: { at: number; refusals?: number | undefined },
): boolean => refusals >= (refusal.refusals ?? 1) || sentAt > refusal.at

/** The same as a condition of a write, given where the item has the instant and the number of the refusal. */
export function sentAfterCondition({ sentAt, refusals }: Sending, path: { at: string; refusals: string }) {
  const later = `${path.at} < :sentAt`
  if (refusals === 0) return { condition: later, values: { ':sentAt': sentAt } }
  const numbered = `attribute_not_exists(${path.refusals}) OR ${path.refusals} <= :refusals`
  return { condition: `(${later} OR ${numbered})`, values: { ':sentAt': sentAt, ':refusals': refusals } }
}
