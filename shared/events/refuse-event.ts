import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { awsClient } from '../aws/aws-client.ts'
import { clientOptions } from '../aws/client-options.ts'
import { itemType } from '../db/item-type.ts'
import { type Item, ttlAfter } from '../db/table.ts'
import { tryTransact, type Write, writeItem } from '../db/write.ts'
import { requireEnv } from '../env.ts'
import { isUnavailable } from '../faults.ts'
import { errorSummary, log } from '../log.ts'
import {
  type Delivery,
  type EventRecord,
  putRefusal,
  refusalKeptMilliseconds,
  usedBy,
} from './event-record.ts'
import { type Refusal, refusalsAttribute, sentAfterCondition } from './refusal.ts'
import { rejectionText } from './rejected-event.ts'

/** A message that is refused. */
export interface RefusedMessage {
  message: SQSRecord
  delivery: Delivery
  /** The record that keeps copies of the event from taking effect; undefined if none could. */
  record: EventRecord | undefined
  refusal: Refusal
  /** When the function is ended, epoch milliseconds. */
  end: number
  /** Whether to send the dead letter although the table, which knows of its copies, is unavailable. */
  evenUnrecorded: boolean
}

/** Error: the refusal cannot be completed now; the message is to be delivered again. */
export class PostponedRefusal extends Error {
  override readonly name = 'PostponedRefusal'
}

/** Maximum number of characters of a dead letter's `reason`. */
const maxReasonLength = 1024

/** Time to begin a refusal with: to record it, to send the dead letter and to record that it is sent. */
const minMilliseconds = 5_000

/** Time that is kept free after the sending, to record it. */
const reserveMilliseconds = 2_000

const maxClaimAttempts = 5

// SQS may accept a message whose answer is late, and a second attempt would send it twice. So there is one
// attempt, with all the time that the function has, on a new connection, as one kept from before may be dead.
const agent = { keepAlive: false }
const sqs = awsClient(
  new SQSClient({
    ...clientOptions(),
    requestHandler: { connectionTimeout: 1_000, httpAgent: agent, httpsAgent: agent },
    maxAttempts: 1,
  }),
)

/**
 * Moves an event to the dead-letter queue, whole, with the message attributes `reason` and `refusals`,
 * exactly once for all copies of its message. Resolves with `duplicate` if there is nothing to do: a copy was
 * moved before, or the event took effect. Throws PostponedRefusal while another copy may be on its way to the
 * dead-letter queue.
 *
 * The refusal is recorded before the dead letter is sent, which keeps copies from taking effect or being
 * sent, and once more after it. If the function dies between the two, a copy sends the dead letter after the
 * function's end; it is there twice only if the first one was sent in that instant.
 */
export async function refuseEvent(refused: RefusedMessage): Promise<'refused' | 'duplicate'> {
  const { message, delivery, refusal, end, evenUnrecorded } = refused
  if (end - Date.now() < minMilliseconds) throw new PostponedRefusal('too little time is left')
  const claimed = await claim(refused).catch((error: unknown) => {
    if (evenUnrecorded && isUnavailable(error)) return true
    throw error
  })
  if (!claimed) return 'duplicate'
  const reason = rejectionText(refusal.code, refusal.explanation)
  log.warn('event refused', { message_id: message.messageId, event_id: delivery.eventId, reason })
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: requireEnv('DEAD_LETTER_QUEUE_URL'),
      MessageBody: message.body,
      MessageAttributes: {
        reason: { DataType: 'String', StringValue: reason.slice(0, maxReasonLength) },
        [refusalsAttribute]: { DataType: 'Number', StringValue: String(refusal.refusals) },
      },
    }),
    { abortSignal: AbortSignal.timeout(Math.max(0, end - Date.now() - reserveMilliseconds)) },
  )
  try {
    await writeItem({ Put: { Item: claimItem(delivery, refusal, { sent: true }) } })
  } catch (error) {
    // The dead letter is there, so the message must not be delivered again.
    log.warn('a dead letter could not be recorded', { cause: errorSummary(error) })
  }
  return 'refused'
}

const claims = itemType({
  pk: 'REFUSED#{eventId}',
  sk: 'REFUSED',
  holds: 'a refused event: whether its dead letter is sent, and until when its function may be sending it',
  found: 'by the id that the bus gave the event',
})
const StoredClaim = v.object({ sent: v.boolean() })

const claimItem = (
  { eventId }: Delivery,
  { at, refusals }: Refusal,
  progress: { sent: boolean; ends_at?: number },
): Item => ({
  ...claims.key({ eventId }),
  refused_at: at,
  refusals,
  ...progress,
  ttl: ttlAfter(at + refusalKeptMilliseconds),
})

/**
 * The write that claims the sending of a dead letter: possible once, and once more after a redrive. A copy of
 * the event does not take over what a redriven message has begun, as that one is delivered again.
 */
function putClaim({ delivery, refusal, end }: RefusedMessage): Write {
  const redriven = sentAfterCondition(delivery, { at: 'refused_at', refusals: 'refusals' })
  const mayTakeOver = `${redriven.condition} OR attribute_not_exists(refusals) OR refusals <= :number`
  return {
    Put: {
      Item: claimItem(delivery, refusal, { sent: false, ends_at: end }),
      ConditionExpression:
        `attribute_not_exists(pk) OR (sent = :yes AND ${redriven.condition}) OR ` +
        `(sent = :no AND ends_at < :now AND (${mayTakeOver}))`,
      ExpressionAttributeValues: {
        ...redriven.values,
        ':yes': true,
        ':no': false,
        ':now': Date.now(),
        ':number': refusal.refusals,
      },
    },
  }
}

/**
 * Claims the sending of a dead letter, and records the refusal under the event's business key, in one
 * transaction. Resolves with false if a dead letter is sent already, or the event took effect.
 */
async function claim(refused: RefusedMessage): Promise<boolean> {
  let { record } = refused
  let stored: Item | undefined
  for (let attempts = 0; attempts < maxClaimAttempts; attempts += 1) {
    const claiming = putClaim(refused)
    const refusing = record && putRefusal(record, refused.refusal, stored)
    const failures = await tryTransact(refusing === undefined ? [claiming] : [claiming, refusing])
    if (failures.length === 0) return true
    const taken = failures.find(({ write }) => write === claiming)
    if (taken !== undefined) {
      if (v.parse(StoredClaim, taken.stored).sent) return false
      throw new PostponedRefusal('another copy is being refused')
    }
    stored = failures[0]?.stored
    const user = record && usedBy(record, stored)
    if (user === 'this') return false
    // Another event took effect under this key, so this one never can.
    if (user === 'other') record = undefined
  }
  throw new PostponedRefusal('other events with this business key are being refused')
}
