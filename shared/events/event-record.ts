import { createHash, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../canonical-json.ts'
import { type Key } from '../db/table.ts'
import { failureOf, tryTransact, type Write } from '../db/write.ts'
import { RejectedEvent } from './rejected-event.ts'
import { readItem } from '../db/read.ts'
import { itemType } from '../db/item-type.ts'

/** The record of an event: its type, its business key and the digest of its content. */
export interface EventRecord {
  detailType: string
  businessKey: string
  /** SHA-256 of the event's detail as canonical JSON, base64url. */
  digest: string
}

/** Outcome of an event: it took effect now (`applied`) or at an earlier delivery (`duplicate`). */
export type Outcome = 'applied' | 'duplicate'

/** Creates the record of an event. The order of the members of its detail does not matter. */
export const eventRecord = (detailType: string, businessKey: string, detail: unknown): EventRecord => ({
  detailType,
  businessKey,
  digest: createHash('sha256').update(canonicalJson(detail)).digest('base64url'),
})

/**
 * Writes what an event changes together with its business key, so that it takes effect exactly once. Resolves
 * with `duplicate` when the key was used before with the same content; throws RejectedEvent when it was used
 * with other content, and the error of a write whose own condition does not hold.
 */
export async function applyOnce(record: EventRecord, writes: Write[]): Promise<Outcome> {
  const eventKey = putEventRecord(record)
  const [firstFailure, ...others] = await tryTransact([eventKey, ...writes])
  if (firstFailure === undefined) return 'applied'
  if (firstFailure.write === eventKey) return resolveDuplicate(record, firstFailure.stored)
  throw failureOf([firstFailure, ...others])
}

/**
 * The outcome of an earlier delivery: `duplicate`, or undefined when the business key was never used. Throws
 * RejectedEvent when the key was used with other content. Call this before rejecting an event for its effect:
 * its own first delivery may have spent the money.
 */
export async function findOutcome(record: EventRecord): Promise<Outcome | undefined> {
  const item = await readItem(recordKey(record), { consistent: true })
  return item === undefined ? undefined : resolveDuplicate(record, item)
}

/** Whether an event of this type and business key has taken effect. */
export async function isRecorded(record: Pick<EventRecord, 'detailType' | 'businessKey'>): Promise<boolean> {
  const item = await readItem(recordKey(record), { consistent: true })
  return item !== undefined
}

const recordType = itemType({
  pk: 'EVT#{detailType}#{businessKey}',
  sk: 'EVT',
  holds: 'an event that took effect: the digest of its content; never deleted',
  found: 'by detail-type and business key',
})
const recordKey = ({ detailType, businessKey }: Pick<EventRecord, 'detailType' | 'businessKey'>): Key =>
  recordType.key({ detailType, businessKey })

/** The write that claims an event's business key, for a transaction that the caller builds. */
export function putEventRecord(record: EventRecord): Write {
  return {
    Put: {
      // The record of an event has no TTL: a sender may send an event again after years, and money must not
      // move twice.
      Item: {
        ...recordKey(record),
        digest: record.digest,
        applied_at: Date.now(),
      },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  }
}

/** The outcome of an event whose key is already stored: `duplicate`, or RejectedEvent for other content. */
export function resolveDuplicate(record: EventRecord, stored: Record<string, unknown> | undefined): Outcome {
  const known = Buffer.from(v.parse(StoredRecord, stored).digest)
  const sent = Buffer.from(record.digest)
  if (known.length === sent.length && timingSafeEqual(known, sent)) return 'duplicate'
  throw new RejectedEvent('conflicting_content')
}

const StoredRecord = v.object({ digest: v.string() })
