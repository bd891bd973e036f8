import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { createHash, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../canonical-json.ts'
import { db, type Key, tableName } from '../db/table.ts'
import { ConditionFailed, transact, type Write } from '../db/write.ts'
import { RejectedEvent } from './rejected-event.ts'

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
  try {
    await transact([putEventRecord(record), ...writes])
    return 'applied'
  } catch (error) {
    if (!(error instanceof ConditionFailed) || error.failed[0] !== true) throw error
    return resolveDuplicate(record, error.items[0])
  }
}

/**
 * What became of an event before: `duplicate`, or undefined where its key was never applied. Refused where it was applied
 * with other content. Asked before an event is refused for what it would do: its own first delivery may be why.
 */
export async function findOutcome(record: EventRecord): Promise<Outcome | undefined> {
  const { Item } = await db.send(
    new GetCommand({ TableName: tableName(), Key: recordKey(record), ConsistentRead: true }),
  )
  return Item === undefined ? undefined : resolveDuplicate(record, Item)
}

/** Whether some event of this type and business key has taken effect. */
export async function isRecorded(record: Pick<EventRecord, 'detailType' | 'businessKey'>): Promise<boolean> {
  const { Item } = await db.send(
    new GetCommand({ TableName: tableName(), Key: recordKey(record), ConsistentRead: true }),
  )
  return Item !== undefined
}

const recordKey = ({ detailType, businessKey }: Pick<EventRecord, 'detailType' | 'businessKey'>): Key => ({
  pk: `EVT#${detailType}#${businessKey}`,
  sk: 'EVT',
})

/** The write that claims an event's business key, for a transaction that is put together elsewhere. */
export function putEventRecord(record: EventRecord): Write {
  return {
    Put: {
      TableName: tableName(),
      // No time to live: a sender may repeat itself after years, and money must not move twice.
      Item: {
        ...recordKey(record),
        digest: record.digest,
        applied_at: Date.now(),
      },
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  }
}

/** What an event is whose key was taken: a `duplicate` of the stored one, or Refused for its other content. */
export function resolveDuplicate(record: EventRecord, stored: Record<string, unknown> | undefined): Outcome {
  const known = Buffer.from(v.parse(StoredRecord, stored).digest)
  const sent = Buffer.from(record.digest)
  if (known.length === sent.length && timingSafeEqual(known, sent)) return 'duplicate'
  throw new RejectedEvent('conflicting_content: this business key came before with other content')
}

const StoredRecord = v.object({ digest: v.string() })
