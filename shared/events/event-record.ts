import { createHash, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../canonical-json.ts'
import { type Key } from '../db/table.ts'
import { failureOf, tryTransact, type Write } from '../db/write.ts'
import { RejectedEvent } from './rejected-event.ts'
import { readItem } from '../db/read.ts'

/** One event as it is remembered: its type, its business key and the digest of its content. */
export interface EventRecord {
  detailType: string
  businessKey: string
  /** SHA-256 of the canonical detail, base64url. */
  digest: string
}

/** Whether an event took effect now, or had taken effect before. */
export type Outcome = 'applied' | 'duplicate'

/** Remembers an event by its key and content; the order of the members of its detail does not matter. */
export const eventRecord = (detailType: string, businessKey: string, detail: unknown): EventRecord => ({
  detailType,
  businessKey,
  digest: createHash('sha256').update(canonicalJson(detail)).digest('base64url'),
})

/**
 * Writes what an event changes together with its business key, so that it takes effect exactly once. The same event
 * again is a `duplicate`; the same key with other content is Refused. A condition of the event's own writes that does not
 * hold is thrown as ConditionFailed, its first member being the event's key.
 */
export async function applyOnce(record: EventRecord, writes: Write[]): Promise<Outcome> {
  const eventKey = putEventRecord(record)
  const [firstFailure, ...others] = await tryTransact([eventKey, ...writes])
  if (firstFailure === undefined) return 'applied'
  if (firstFailure.write === eventKey) return resolveDuplicate(record, firstFailure.stored)
  throw failureOf([firstFailure, ...others])
}

/**
 * What became of an event before: `duplicate`, or undefined where its key was never applied. Refused where it was applied
 * with other content. Asked before an event is refused for what it would do: its own first delivery may be why.
 */
export async function findOutcome(record: EventRecord): Promise<Outcome | undefined> {
  const item = await readItem(recordKey(record), { consistent: true })
  return item === undefined ? undefined : resolveDuplicate(record, item)
}

/** Whether some event of this type and business key has taken effect. */
export async function isRecorded(record: Pick<EventRecord, 'detailType' | 'businessKey'>): Promise<boolean> {
  const item = await readItem(recordKey(record), { consistent: true })
  return item !== undefined
}

const recordKey = ({ detailType, businessKey }: Pick<EventRecord, 'detailType' | 'businessKey'>): Key => ({
  pk: `EVT#${detailType}#${businessKey}`,
  sk: 'EVT',
})

/** The write that claims an event's business key, for a transaction that is put together elsewhere. */
export function putEventRecord(record: EventRecord): Write {
  return {
    Put: {
      // No time to live: a sender may repeat itself after years, and money must not move twice.
      Item: {
        ...recordKey(record),
        digest: record.digest,
        applied_at: Date.now(),
      },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  }
}

/** What an event is whose key was taken: a `duplicate` of the stored one, or Refused for its other content. */
export function resolveDuplicate(record: EventRecord, stored: Record<string, unknown> | undefined): Outcome {
  const known = Buffer.from(v.parse(StoredRecord, stored).digest)
  const sent = Buffer.from(record.digest)
  if (known.length === sent.length && timingSafeEqual(known, sent)) return 'duplicate'
  throw new RejectedEvent('conflicting_content')
}

const StoredRecord = v.object({ digest: v.string() })
