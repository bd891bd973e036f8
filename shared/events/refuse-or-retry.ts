import type { SQSRecord } from 'aws-lambda'
import { delayRetry, growingPause } from '../aws/delay-retry.ts'
import { sendDeadLetter } from '../aws/send-dead-letter.ts'
import { OptimisticLockError } from '../errors.ts'
import { countFailure, isUnavailable } from '../faults.ts'
import { OutOfTime } from '../invocation.ts'
import { errorSummary, log } from '../log.ts'
import type { ReceivedEvent } from './apply-in-rounds.ts'
import { claimRefusal, noteSent } from './claim-refusal.ts'
import {
  countReceives,
  type Delivery,
  leftToWait,
  maxReceives,
  maxRetryDelaySeconds,
  refusalsAttribute,
} from './delivery.ts'
import type { Refusal } from './event-record.ts'
import type { Refused, Result } from './outcome.ts'
import { RejectedEvent, rejectionReasons, rejectionText } from './rejected-event.ts'

/**
 * Pause before an early event is received again, in seconds: the shortest that SQS has, because each event of
 * a chain that spans several queues waits for one pause, and then a longer one.
 */
const earlyPauseSeconds = { first: 1, later: 2 }

/** Number of receives after which the pauses of an early event are longer. All take the minute together. */
const shortPauses = 20

/**
 * A refusal begins only if at least this much time is left, enough to store a record, send a dead letter, and
 * record that it was sent.
 */
const minRefusalMilliseconds = 5_000

/** Time reserved for noting that the dead letter has been sent. */
const noteReserveMilliseconds = 2_000

/** Moves a failed message to the dead-letter queue, or throws so that SQS delivers it again after a pause. */
export async function refuseOrRetry(
  received: ReceivedEvent,
  error: unknown,
  end: number,
): Promise<Refused | Result> {
  const { message, event } = received
  const receives = countReceives(message)
  let cause = error
  try {
    if (!(error instanceof RejectedEvent)) countFailure(error)
    const refusal = decideRefusal(error, receives, event.delivery, end)
    if (refusal !== undefined) return await refuse(received, refusal, end)
  } catch (failure) {
    countFailure(failure)
    cause = failure
  }
  log.warn('event will be retried', {
    message_id: message.messageId,
    event_id: event.delivery.eventId,
    receives,
    ...(cause instanceof RejectedEvent ? { reason: cause.code } : { cause: errorSummary(cause) }),
  })
  await delayRetry(
    message,
    cause instanceof RejectedEvent ? earlyPause(message) : growingPause(message, maxRetryDelaySeconds),
  )
  throw cause
}

/** Pause before an early event is received again, in seconds. Its last receive is when its minute is over. */
function earlyPause(message: SQSRecord): number {
  const { first, later } = earlyPauseSeconds
  const left = Math.ceil(leftToWait(message) / 1_000)
  return Math.max(1, Math.min(countReceives(message) <= shortPauses ? first : later, left))
}

/** Decides whether to refuse a failed message. Returns undefined if SQS must deliver the message again. */
function decideRefusal(
  error: unknown,
  receives: number,
  { sentAt, refusals, hasWaited }: Delivery,
  until: number,
): Refusal | undefined {
  // The clock of SQS may be ahead. A refusal must not seem older than the message that it refuses.
  const decided = { at: Math.max(Date.now(), sentAt), refusals: refusals + 1, until }
  if (error instanceof RejectedEvent) {
    if (error.mayPass && !hasWaited) return undefined
    return { code: error.code, explanation: error.explanation, ...decided }
  }
  if (receives < maxReceives) return undefined
  const code = isUnavailable(error) ? 'unavailable' : 'internal'
  return { code, explanation: rejectionReasons[code].means, ...decided }
}

/**
 * Sends one dead letter for an event, even if its message is delivered several times: records the refusal,
 * sends the dead letter, and records that it was sent. If this is interrupted, a later delivery sends the
 * dead letter, perhaps a second time. An event that has taken effect is not refused.
 */
async function refuse(
  { message, event }: ReceivedEvent,
  refusal: Refusal,
  end: number,
): Promise<Refused | Result> {
  if (end - Date.now() < minRefusalMilliseconds) throw new OutOfTime(true)
  const claim = await claimRefusal(event, refusal).catch((error: unknown) => {
    // If the table was down at every try, the dead letter is sent without a record.
    if (refusal.code !== 'unavailable' || error instanceof OptimisticLockError) throw error
    return 'claimed' as const
  })
  if (claim !== 'claimed') return claim
  const reason = rejectionText(refusal.code, refusal.explanation)
  // Logs only the code, because the explanation can have names that the sender chose.
  log.warn('event refused', {
    message_id: message.messageId,
    event_id: event.delivery.eventId,
    reason: refusal.code,
  })
  const attributes = {
    reason: { DataType: 'String', StringValue: reason },
    [refusalsAttribute]: { DataType: 'Number', StringValue: String(refusal.refusals) },
  }
  await sendDeadLetter(message.body, attributes, end - Date.now() - noteReserveMilliseconds)
  try {
    await noteSent(event)
  } catch (error) {
    // Only log the failure: the dead letter has been sent, so the event's message must not be delivered
    // again.
    log.warn('a dead letter could not be noted', { cause: errorSummary(error) })
  }
  return { outcome: 'refused', reason: refusal.code, at: refusal.at }
}
