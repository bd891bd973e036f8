import type { SQSRecord } from 'aws-lambda'
import { randomUUID } from 'node:crypto'
import { waitedMilliseconds } from '../aws/delay-retry.ts'
import { clockToleranceMilliseconds } from '../fields.ts'
import { settings } from '../settings.ts'
import { type Envelope, eventIdIn } from './envelope.ts'

/** An event as the queue delivers it. */
export interface Delivery {
  /** Id that the bus gave the event; all copies of the event have the same id. */
  eventId: string
  /** When the message was sent to the queue, epoch milliseconds. A redriven message is sent anew. */
  sentAt: number
  /**
   * How often the event had been refused before the message was sent; 0 for a message from the bus. It shows
   * that a message was redriven, and does not depend on clocks.
   */
  refusals: number
  /**
   * Whether the event has waited a minute for the events that it needs, since its message was first received.
   * If so, this is its last try.
   */
  hasWaited: boolean
  /**
   * Booking time of the event, epoch milliseconds: normally its arrival. An event that was replayed from the
   * archive is booked at the time when it was first sent.
   */
  bookedAt: number
  /**
   * When the event came, epoch milliseconds: the same at every delivery of its message, and of a message that
   * was redriven or replayed, the time when the event was first sent.
   */
  arrivedAt: number
}

/** A delivery of an event that did not come from a queue. */
export const newDelivery = (): Delivery => {
  const now = Date.now()
  return { eventId: randomUUID(), sentAt: now, refusals: 0, hasWaited: false, bookedAt: now, arrivedAt: now }
}

/**
 * The instant with which an event is compared with others, which its sender states as `at` (both epoch
 * milliseconds). If that lay ahead of this service's clock, it is the arrival. Otherwise a sender whose clock
 * is four minutes ahead would hide the updates of the next four minutes. `at` lay ahead by no more than
 * Instant allows, so a sender who states a wrong time for the bus loses no more than that.
 */
export const countedInstant = (at: number, { arrivedAt }: Delivery): number =>
  Math.min(at, Math.max(arrivedAt, at - clockToleranceMilliseconds))

/**
 * How long an event that came too early waits for the events that it needs, in milliseconds, from the first
 * receive of its message. A backlog, before that, does not count, nor does what was before a redrive.
 */
const maxEarlyMilliseconds = (): number => settings().earlyEventSeconds * 1_000

/**
 * Number of receives after which an event is moved to the dead-letter queue, whatever the failure. The
 * queue's own limit is a little higher.
 */
export const maxReceives = 50

/** The longest pause before a failed event is received again. */
export const maxRetryDelaySeconds = 900

/** Message attribute of a dead letter: how often its event has been refused. A redrive keeps it. */
export const refusalsAttribute = 'refusals'

/** Reads `refusals` from a message's attribute; 0 if it is missing or malformed. */
export const readRefusals = (text: string | undefined): number =>
  /^[1-9]\d{0,5}$/.test(text ?? '') ? Number(text) : 0

/** What SQS tells of a message. */
type Attributes = Pick<SQSRecord, 'attributes'>

/** How often a message has been received, this time included. */
export const countReceives = ({ attributes }: Attributes): number =>
  Number(attributes.ApproximateReceiveCount)

/** Milliseconds that an early event still waits for the events that it needs; negative after its minute. */
export const leftToWait = (message: Attributes): number =>
  maxEarlyMilliseconds() - waitedMilliseconds(message)

/** Reads from a message how it was delivered. What only its envelope tells counts as now. */
export function readDelivery({
  messageId,
  body,
  attributes,
  messageAttributes,
}: Pick<SQSRecord, 'messageId' | 'body' | 'attributes'> & Partial<SQSRecord>): Delivery {
  return {
    eventId: eventIdIn(body) ?? messageId,
    // Without `SentTimestamp` (a direct invocation), the message counts as older than any refusal.
    sentAt: Number(attributes.SentTimestamp) || 0,
    hasWaited: leftToWait({ attributes }) <= 0 || countReceives({ attributes }) >= maxReceives,
    refusals: readRefusals(messageAttributes?.[refusalsAttribute]?.stringValue),
    bookedAt: Date.now(),
    arrivedAt: Date.now(),
  }
}

/** Adds to a delivery what the envelope of its message tells. */
export const withEnvelope = (delivery: Delivery, envelope: Envelope): Delivery => ({
  ...delivery,
  bookedAt: bookingInstant(envelope),
  arrivedAt: arrivalInstant(envelope, delivery),
})

/** The instant at which an event is booked (see Delivery). A replayed event is never booked in the future. */
function bookingInstant(envelope: Envelope): number {
  const now = Date.now()
  if (envelope['replay-name'] === undefined) return now
  const sentAt = Date.parse(String(envelope.time))
  return Number.isNaN(sentAt) ? now : Math.min(sentAt, now)
}

/**
 * The instant at which an event came (see Delivery). Of a message from the bus, that is when it was sent to
 * the queue. A redriven or replayed message is sent anew, so the event's own time counts, which EventBridge
 * cuts to a second.
 */
function arrivalInstant(envelope: Envelope, { sentAt, refusals, arrivedAt }: Delivery): number {
  const queuedAt = sentAt === 0 ? arrivedAt : sentAt
  if (envelope['replay-name'] === undefined && refusals === 0) return queuedAt
  const endOfSecond = Date.parse(String(envelope.time)) + 999
  return Number.isNaN(endOfSecond) ? queuedAt : Math.min(endOfSecond, queuedAt)
}
