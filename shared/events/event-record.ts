import { createHash, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../canonical-json.ts'
import { isSameSecret } from '../is-same-secret.ts'
import { Integer, type Item, type Key, ttlAfter } from '../db/table.ts'
import { ConditionFailed, failureOf, putNew, tryTransact, type Write } from '../db/write.ts'
import { isSentAfter, type Refusal, type Sending, sentAfterCondition } from './refusal.ts'
import { RejectedEvent, RejectionReason } from './rejected-event.ts'
import { readItem } from '../db/read.ts'
import { itemType } from '../db/item-type.ts'

/** The record of an event: its type, its business key and the digest of its content. */
export interface EventRecord {
  detailType: string
  businessKey: string
  /** SHA-256 of the event's detail as canonical JSON, base64url. */
  digest: string
  delivery: Delivery
}

/** An event as the queue delivers it; each of its copies has the same. */
export interface Delivery extends Sending {
  /** Id that the bus gave the event. */
  eventId: string
  /** When the event was first sent, epoch milliseconds, if a replay of the archive sends it again. */
  replayOf?: number | undefined
}

/** When a delivered event is booked, epoch milliseconds: now, or when it was if a replay sends it again. */
export const bookingInstant = ({ replayOf }: Pick<Delivery, 'replayOf'>): number => replayOf ?? Date.now()

/**
 * Outcome of an event: it took effect now (`applied`) or at an earlier delivery (`duplicate`), or nobody
 * needs its effect any more (`unneeded`).
 */
export type Outcome = 'applied' | 'duplicate' | 'unneeded'

/** Creates the record of an event. The order of the members of its detail does not matter. */
export const eventRecord = (
  detailType: string,
  businessKey: string,
  detail: unknown,
  delivery: Delivery = { eventId: randomUUID(), sentAt: Date.now(), refusals: 0 },
): EventRecord => ({
  detailType,
  businessKey,
  delivery,
  digest: createHash('sha256').update(canonicalJson(detail)).digest('base64url'),
})

/**
 * Writes what an event changes, given the instant of the transaction (epoch milliseconds), together with its
 * business key, so that it takes effect exactly once. Resolves
 * with `duplicate` when the key was used before with the same content; throws RejectedEvent when it was used
 * with other content or a copy of this event was refused, and the error of a write whose own condition does
 * not hold.
 */
export async function applyOnce(
  record: EventRecord,
  writes: Write[] | ((at: number) => Write[]),
): Promise<Outcome> {
  const at = Date.now()
  const all = typeof writes === 'function' ? writes(at) : writes
  const eventKey = putEventRecord(record, at, all)
  const [firstFailure, ...others] = await tryTransact([eventKey, ...all])
  if (firstFailure === undefined) return 'applied'
  const known = firstFailure.write === eventKey && resolveDuplicate(record, firstFailure.stored)
  if (known) return known
  throw failureOf([firstFailure, ...others])
}

/**
 * Like applyOnce, for writes whose conditions fail only because something later stands: then the event is
 * recorded, and changes nothing.
 */
export async function applyUnlessOvertaken(record: EventRecord, writes: Write[]): Promise<Outcome> {
  try {
    return await applyOnce(record, writes)
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return applyOnce(record, [])
  }
}

/**
 * The outcome of an earlier delivery: `duplicate`, or undefined when the business key was never used. Throws
 * RejectedEvent when the key was used with other content or a copy of this event was refused. Call this
 * before rejecting an event for its effect: its own first delivery may have spent the money.
 */
export async function findOutcome(record: EventRecord): Promise<Outcome | undefined> {
  const item = await readItem(recordKey(record), { consistent: true })
  return resolveDuplicate(record, item)
}

/** Whether an event of this type and business key has taken effect. */
export async function isRecorded(record: Pick<EventRecord, 'detailType' | 'businessKey'>): Promise<boolean> {
  const item = await readItem(recordKey(record), { consistent: true })
  return item?.['digest'] !== undefined
}

const recordType = itemType({
  pk: 'EVT#{detailType}#{businessKey}',
  sk: 'EVT',
  holds: 'an event that took effect: the digest of its content, forever; or its refusal, for 15 days',
  found: 'by detail-type and business key',
})
/** Key of the record of an event. */
export const recordKey = ({
  detailType,
  businessKey,
}: Pick<EventRecord, 'detailType' | 'businessKey'>): Key => recordType.key({ detailType, businessKey })

/**
 * The write that claims an event's business key, for a transaction that the caller builds. Everything that
 * the transaction writes has the same instant `at`, and the record tells the number of what else it wrote, so
 * that one of which only a part was restored can be found and taken back: see infra/ops/mend.
 */
export function putEventRecord(record: EventRecord, at: number, others: readonly Write[]): Write {
  const path = { at: 'refused.#event.#at', refusals: 'refused.#event.refusals' }
  const redriven = sentAfterCondition(record.delivery, path)
  return {
    Put: {
      // The record of an event has no TTL: a sender may send an event again after years, and money must not
      // move twice.
      Item: {
        ...recordKey(record),
        digest: record.digest,
        event_id: record.delivery.eventId,
        applied_at: at,
        items: others.filter(({ ConditionCheck, transient }) => !ConditionCheck && !transient).length,
      },
      ConditionExpression:
        'attribute_not_exists(digest) AND ' +
        `(attribute_not_exists(refused.#event) OR ${redriven.condition})`,
      ExpressionAttributeNames: { '#event': record.delivery.eventId, '#at': 'at' },
      ExpressionAttributeValues: redriven.values,
    },
  }
}

/** Maximum number of refused events whose refusals one business key keeps. */
const maxRefusals = 20

/** How long a refusal is kept: longer than any copy of a message, which a queue keeps for 14 days. */
export const refusalKeptMilliseconds = 15 * 86_400_000

/**
 * The write that records the refusal of an event under its business key, so that no copy of it can take
 * effect any more. Another event, a redriven one included, can still use the key. Its condition fails if the
 * item is not as `stored`; then call it again with the item as it is.
 */
export function putRefusal({ delivery, ...record }: EventRecord, refusal: Refusal, stored?: Item): Write {
  const { refused } = v.parse(StoredRecord, stored ?? {})
  const recent = Object.entries(refused).sort(([, one], [, other]) => one.at - other.at)
  const all = [...recent.slice(1 - maxRefusals), [delivery.eventId, refusal] as const]
  const item = {
    ...recordKey(record),
    refused: Object.fromEntries(all),
    ttl: ttlAfter(refusal.at + refusalKeptMilliseconds),
  }
  if (stored === undefined) return putNew(item)
  return {
    Put: {
      Item: item,
      ConditionExpression: 'refused = :refused',
      ExpressionAttributeValues: { ':refused': stored['refused'] },
    },
  }
}

/** Who used a business key for an event that took effect: this same event, another one, or nobody yet. */
type User = 'this' | 'other' | 'none'

/** Who used a business key, by the record that is stored. */
export function usedBy({ delivery, digest }: EventRecord, stored: Item | undefined): User {
  const known = v.parse(StoredRecord, stored ?? {})
  if (known.digest === undefined) return 'none'
  return known.event_id === delivery.eventId || known.digest === digest ? 'this' : 'other'
}

/**
 * The outcome of an event whose key is already stored: `duplicate`; undefined if only other events with this
 * key were refused. Throws RejectedEvent for other content, and for the reason for which a copy was refused.
 */
export function resolveDuplicate(record: EventRecord, stored: Item | undefined): Outcome | undefined {
  const { digest, refused } = v.parse(StoredRecord, stored ?? {})
  if (digest === undefined) {
    const refusal = refused[record.delivery.eventId]
    if (refusal === undefined || isSentAfter(record.delivery, refusal)) return undefined
    throw new RejectedEvent(refusal.code, refusal.explanation)
  }
  if (isSameSecret(digest, record.digest)) return 'duplicate'
  throw new RejectedEvent('conflicting_content')
}

const StoredRefusal = v.object({
  code: RejectionReason,
  explanation: v.string(),
  at: Integer,
  refusals: v.optional(Integer),
})
const StoredRecord = v.object({
  digest: v.optional(v.string()),
  event_id: v.optional(v.string()),
  refused: v.optional(v.record(v.string(), StoredRefusal), {}),
})
