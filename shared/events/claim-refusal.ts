import * as v from 'valibot'
import { type Item, ttlAfter } from '../db/table.ts'
import { tryTransact, type Write, writeItem } from '../db/write.ts'
import { OptimisticLockError } from '../errors.ts'
import {
  type EventRecord,
  isSentAfter,
  knownResult,
  recordKey,
  type Refusal,
  StoredRecord,
} from './event-record.ts'
import type { Refused, Result } from './outcome.ts'

/**
 * An event to refuse. If its business key is unreadable, its id serves as one; if its detail is not valid,
 * there is no digest.
 */
export type RefusedEvent = Omit<EventRecord, 'digest'> & Partial<EventRecord>

const maxClaimAttempts = 5

/** Time limit for recording a refusal, so that time is left for the dead letter if the table hangs. */
const maxClaimMilliseconds = 2_500

/**
 * Records the refusal of an event. From then on, a message that was sent before the refusal has no effect.
 * Resolves with `claimed` if the caller must send a dead letter. Otherwise resolves with the result of an
 * event whose dead letter was sent before, or which has taken effect. Throws OptimisticLockError if another
 * function may be sending the dead letter, or if other events with this key are being refused.
 */
export async function claimRefusal(
  event: RefusedEvent,
  refusal: Refusal,
): Promise<'claimed' | Refused | Result> {
  let stored: Item | undefined
  for (let attempts = 0; attempts < maxClaimAttempts; attempts += 1) {
    const done = findResult(event, stored)
    if (done !== undefined) return done
    const abortSignal = AbortSignal.timeout(maxClaimMilliseconds)
    const [failure] = await tryTransact([putRefusal(event, refusal, stored)], { abortSignal })
    if (failure === undefined) return 'claimed'
    stored = failure.stored
  }
  throw new OptimisticLockError('other events with this business key are being refused')
}

/**
 * The result of an event that needs no dead letter, because one was sent, or because the event has taken
 * effect; undefined if it needs one. The reason of the refusal is that of the letter: another delivery may
 * find another, as more events have come.
 */
function findResult(
  { delivery, digest }: RefusedEvent,
  stored: Item | undefined,
): Refused | Result | undefined {
  const known = v.parse(StoredRecord, stored ?? {})
  if (known.digest !== undefined && (known.event_id === delivery.eventId || known.digest === digest))
    return knownResult(delivery, known)
  const earlier = known.refused[delivery.eventId]
  if (earlier === undefined || isSentAfter(delivery, earlier)) return undefined
  if (earlier.until === undefined) return { outcome: 'refused', reason: earlier.code, at: earlier.at }
  if (earlier.until < Date.now()) return undefined
  throw new OptimisticLockError('another message of this event is being refused')
}

/** Maximum number of refusals in the record of a business key. */
const maxRefusals = 20

/** How long a refusal is kept: longer than the 14 days for which a queue keeps any copy of the message. */
const refusalKeptMilliseconds = 15 * 86_400_000

/** The write that adds a refusal to an event's record. It fails if the record changed since it was read. */
function putRefusal(event: RefusedEvent, refusal: Refusal, stored: Item | undefined): Write {
  const { eventId } = event.delivery
  const { digest, refused } = v.parse(StoredRecord, stored ?? {})
  const others = Object.entries(refused).filter(([id]) => id !== eventId)
  const recent = others.sort(([, one], [, other]) => one.at - other.at).slice(1 - maxRefusals)
  const before = stored?.['refused']
  // Sets no TTL on the record of an event that took effect, because that record is kept for good.
  const ttl = digest === undefined ? ttlAfter(refusal.at + refusalKeptMilliseconds) : undefined
  return {
    Update: {
      Key: recordKey(event),
      UpdateExpression: `SET refused = :refused${ttl === undefined ? '' : ', #ttl = :ttl'}`,
      ConditionExpression:
        (before === undefined ? 'attribute_not_exists(refused)' : 'refused = :before') +
        (ttl === undefined ? '' : ' AND attribute_not_exists(digest)'),
      ...(ttl !== undefined && { ExpressionAttributeNames: { '#ttl': 'ttl' } }),
      ExpressionAttributeValues: {
        ':refused': Object.fromEntries([...recent, [eventId, refusal]]),
        ...(before !== undefined && { ':before': before }),
        ...(ttl !== undefined && { ':ttl': ttl }),
      },
    },
  }
}

/** Records that a refused event's dead letter has been sent. */
export async function noteSent(event: RefusedEvent): Promise<void> {
  await writeItem({
    Update: {
      Key: recordKey(event),
      UpdateExpression: 'REMOVE refused.#id.#until',
      ConditionExpression: 'attribute_exists(refused.#id.#until)',
      ExpressionAttributeNames: { '#id': event.delivery.eventId, '#until': 'until' },
    },
  })
}
