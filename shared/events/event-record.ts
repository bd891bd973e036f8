import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../canonical-json.ts'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { ConditionFailed, failureOf, tryTransact, type Write } from '../db/write.ts'
import { isSameSecret } from '../is-same-secret.ts'
import { type Delivery, newDelivery } from './delivery.ts'
import { Outcome, type Result, Subject } from './outcome.ts'
import { RejectedEvent, RejectionReason } from './rejected-event.ts'

/** What identifies an event: its type and its business key. Both are the same each time the event is sent. */
export interface EventName {
  detailType: string
  businessKey: string
}

/** The record of an event: its name and the digest of its content. */
export interface EventRecord extends EventName {
  /** SHA-256 of the content as canonical JSON, or a MAC if the event contains a secret; base64url. */
  digest: string
  /** MACs with older keys, if `digest` is a MAC. An earlier delivery may have stored one of them. */
  olderDigests?: string[]
  delivery: Delivery
  /** What the event becomes if it takes effect. Default: `applied`. */
  effect?: Outcome
  /** What the event concerns if it takes effect. */
  subject?: Subject | undefined
}

/**
 * Creates the record of an event. `content` is its detail as its schema has parsed it, so that neither the
 * order of members nor two spellings of a value (`1.50`, `1.5`) make another digest.
 */
export const eventRecord = (
  detailType: string,
  businessKey: string,
  content: unknown,
  delivery: Delivery = newDelivery(),
): EventRecord => ({
  detailType,
  businessKey,
  delivery,
  digest: createHash('sha256').update(canonicalJson(content)).digest('base64url'),
})

/**
 * Writes an event's changes together with its business key, so that the event takes effect exactly once.
 * Resolves with `duplicate` if it took effect before. Throws RejectedEvent in the same cases as
 * resolveDuplicate. If a condition of `writes` fails, throws the same error as `transact`.
 */
export async function applyOnce(record: EventRecord, writes: Write[]): Promise<Result> {
  const at = Date.now()
  const eventKey = putEventRecord(record, at)
  const [firstFailure, ...others] = await tryTransact([eventKey, ...writes])
  if (firstFailure === undefined) return effectOf(record, at)
  const known = firstFailure.write === eventKey && resolveDuplicate(record, firstFailure.stored)
  if (known) return known
  throw failureOf([firstFailure, ...others])
}

/** The result of an event that takes effect at an instant (epoch milliseconds). */
export const effectOf = ({ effect = 'applied', subject }: EventRecord, at: number): Result => ({
  outcome: effect,
  subject,
  at,
})

/**
 * Like applyOnce, but if a condition of `writes` fails, records the event without `writes`, as `overtaken`: a
 * later event came first.
 */
export async function applyUnlessOvertaken(record: EventRecord, writes: Write[]): Promise<Result> {
  try {
    return await applyOnce(record, writes)
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return applyOnce({ ...record, effect: 'overtaken' }, [])
  }
}

/** Looks up whether an event took effect; results and errors are those of resolveDuplicate. */
export async function findOutcome(record: EventRecord): Promise<Result | undefined> {
  const item = await readItem(recordKey(record), { consistent: true })
  return resolveDuplicate(record, item)
}

/**
 * Rejects an event, unless its business key was used before: then that counts, as resolveDuplicate says. So a
 * copy with other content is a conflict at once, whatever it lacks besides.
 */
export async function rejectUnlessKnown(record: EventRecord, rejection: RejectedEvent): Promise<Result> {
  const known = await findOutcome(record)
  if (known === undefined) throw rejection
  return known
}

/** What is recorded of an event: what took effect under its key, and the refusals, newest last. */
export async function readEvent(event: EventName) {
  const item = await readItem(recordKey(event), { consistent: true })
  if (item === undefined) return undefined
  const { refused, ...effect } = v.parse(StoredRecord, item)
  return { effect, refusals: Object.entries(refused).sort(([, one], [, other]) => one.at - other.at) }
}

/** Whether an event of this type and business key has taken effect. */
export async function isRecorded(event: EventName): Promise<boolean> {
  const item = await readItem(recordKey(event), { consistent: true })
  return item?.['digest'] !== undefined
}

const eventRecords = itemType({
  pk: 'EVT#{detailType}#{businessKey}',
  sk: 'EVT',
  holds:
    'the outcome of events with one key: the digest of the content that took effect, for good; refusals, for 15 days',
  found: 'by detail-type and business key',
})

/** Key of the record of an event. */
export const recordKey = ({ detailType, businessKey }: EventName): Key =>
  eventRecords.key({ detailType, businessKey })

/** Why an event was refused, as stored in the record of the event's business key. */
const Refusal = v.object({
  code: RejectionReason,
  explanation: v.string(),
  /** When the refusal was decided, epoch milliseconds. */
  at: Integer,
  /** How often the event has been refused, this time included. */
  refusals: Integer,
  /** Deadline for sending the dead letter, epoch milliseconds; undefined once the letter is sent. */
  until: v.optional(Integer),
})
export type Refusal = v.InferOutput<typeof Refusal>

/** The record of the events with one business key, as stored. */
export const StoredRecord = v.object({
  digest: v.optional(v.string()),
  event_id: v.optional(v.string()),
  applied_at: v.optional(Integer),
  /** What the event became; undefined if it was applied. */
  outcome: v.optional(Outcome),
  subject: v.optional(Subject),
  /** Refusals, keyed by event id. */
  refused: v.optional(v.record(v.string(), Refusal), {}),
})

/**
 * Whether a message was sent after its event was refused. Only such a message may take effect. Either it was
 * redriven (see `refusals`), or a person sent the event again (see `sentAt`).
 */
export const isSentAfter = ({ sentAt, refusals }: Delivery, refusal: Refusal): boolean =>
  refusals >= refusal.refusals || sentAt > refusal.at

/**
 * The write that claims an event's business key at the time `at` (epoch milliseconds). The condition fails if
 * an event with this key took effect. It also fails if this event was refused, unless the message is newer
 * than the refusal.
 */
export function putEventRecord(record: EventRecord, at: number): Write {
  const { eventId, sentAt, refusals } = record.delivery
  const { outcome, subject } = effectOf(record, at)
  const [named, told] = [outcome !== 'applied', subject !== undefined]
  return {
    Update: {
      Key: recordKey(record),
      // Keeps the record for good: a sender may repeat an event after years, and money must not move twice.
      UpdateExpression: `SET digest = :digest, event_id = :id, applied_at = :at${named ? ', #outcome = :outcome' : ''}${told ? ', subject = :subject' : ''} REMOVE #ttl`,
      // This condition and isSentAfter must express the same rule.
      ConditionExpression:
        'attribute_not_exists(digest) AND (attribute_not_exists(refused.#id) OR ' +
        'refused.#id.refusals <= :refusals OR refused.#id.#at < :sentAt)',
      ExpressionAttributeNames: {
        '#id': eventId,
        '#at': 'at',
        '#ttl': 'ttl',
        ...(named && { '#outcome': 'outcome' }),
      },
      ExpressionAttributeValues: {
        ...(named && { ':outcome': outcome }),
        ...(told && { ':subject': subject }),
        ':digest': record.digest,
        ':id': eventId,
        ':at': at,
        ':sentAt': sentAt,
        ':refusals': refusals,
      },
    },
  }
}

/**
 * The write that takes back the record of an event, for a transaction that takes back what the event changed.
 * The condition fails unless this event, or another one with its content, took effect.
 */
export const dropEventRecord = (record: EventRecord): Write => ({
  Delete: {
    Key: recordKey(record),
    ConditionExpression: 'digest = :digest',
    ExpressionAttributeValues: { ':digest': record.digest },
  },
})

/**
 * Compares an event with `stored`, the record of its business key. Returns what the event became if it has
 * taken effect, `duplicate` if another event with the same content has, and undefined if it may take effect.
 * Throws RejectedEvent if other content has taken effect under this key. Also throws it if the event was
 * refused, unless this message is newer than the refusal.
 */
export function resolveDuplicate(record: EventRecord, stored: Item | undefined): Result | undefined {
  const known = v.parse(StoredRecord, stored ?? {})
  const { digest } = known
  if (digest !== undefined) {
    const own = [record.digest, ...(record.olderDigests ?? [])]
    if (own.some((one) => isSameSecret(digest, one))) return knownResult(record.delivery, known)
    throw new RejectedEvent('conflicting_content')
  }
  const refusal = known.refused[record.delivery.eventId]
  if (refusal === undefined || isSentAfter(record.delivery, refusal)) return undefined
  throw new RejectedEvent(refusal.code, refusal.explanation)
}

/** The result of an event whose content took effect before: by this very event, or by another one. */
export const knownResult = (
  { eventId }: Delivery,
  { event_id, outcome = 'applied', subject, applied_at: at }: v.InferOutput<typeof StoredRecord>,
): Result => (event_id === eventId ? { outcome, subject, at } : { outcome: 'duplicate', subject })
