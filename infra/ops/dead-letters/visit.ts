import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { isObject } from '../../../shared/is-object.ts'
import { countMessagesAt } from './queues.ts'

/** A message of a dead-letter queue. */
export type DeadLetter = ReturnType<typeof toDeadLetter>

/** What `visitDeadLetters` is to do with a batch of dead letters. */
export interface Decision {
  /** Dead letters to delete; the others stay in the queue. */
  toDelete: DeadLetter[]
  /** Whether to stop receiving batches. Default: no. */
  stop?: boolean
}

/** How long received dead letters stay invisible to other consumers at least, and at most (SQS's maximum). */
const minVisibilitySeconds = 120
const maxVisibilitySeconds = 43_200

/** The time in which a batch is surely received, over a slow line too. */
const secondsPerBatch = 1

const maxBatchSize = 10

/**
 * Receives the messages of a dead-letter queue in batches of ten, each message once. Skips messages that
 * arrive meanwhile. At the end, makes messages that were not deleted visible again.
 *
 * Resolves with the number of messages that are in the queue beside those that were received: 0 if the visit
 * was whole. Otherwise it was stopped, another consumer holds some, or the queue is a FIFO queue: SQS gives
 * out no more of a message group whose first messages are in flight.
 */
export async function visitDeadLetters(
  sqs: SQSClient,
  url: string,
  decide: (letters: DeadLetter[]) => Promise<Decision>,
): Promise<number> {
  const startedAt = Date.now()
  const batches = (await countMessagesAt(sqs, url)) / maxBatchSize
  // If letters became visible again before the last one is received, the visit would never end.
  const visibilitySeconds = Math.min(
    maxVisibilitySeconds,
    Math.max(minVisibilitySeconds, Math.ceil(batches * secondsPerBatch)),
  )
  const kept = new Map<string, DeadLetter>()
  try {
    for (let stop = false; !stop;) {
      const received = await receive(sqs, url, visibilitySeconds)
      // A standard queue may give out a message twice. The newer receipt handle is the valid one.
      const letters = received.filter(({ id }) => !kept.has(id))
      for (const letter of received) kept.set(letter.id, letter)
      if (letters.length === 0) break
      // Do not stop at newer letters: a standard queue may give out older letters after them.
      const older = letters.filter(({ since }) => since <= startedAt)
      const { toDelete, stop: stopNow = false } = await decide(older)
      await deleteMessages(sqs, url, toDelete)
      for (const { id } of toDelete) kept.delete(id)
      stop = stopNow
    }
    return Math.max(0, (await countMessagesAt(sqs, url)) - kept.size)
  } finally {
    await makeVisible(sqs, url, [...kept.values()])
  }
}

async function receive(sqs: SQSClient, url: string, visibilitySeconds: number): Promise<DeadLetter[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: maxBatchSize,
      VisibilityTimeout: visibilitySeconds,
      // Long polling queries all servers of the queue; short polling queries some, and can miss messages.
      WaitTimeSeconds: 1,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['SentTimestamp', 'MessageGroupId'],
    }),
  )
  return Messages.map(toDeadLetter)
}

function toDeadLetter(message: Message) {
  const { MessageId = '', Body = '', Attributes, MessageAttributes, ReceiptHandle = '' } = message
  const envelope = readEnvelope(Body)
  const { 'detail-type': detailType, source, resources, 'replay-name': replay } = envelope
  return {
    id: MessageId,
    /** Id that the bus gave the event; a replay keeps it. */
    eventId: typeof envelope['id'] === 'string' ? envelope['id'] : null,
    /** Why the function rejected the event; null if SQS moved the message after too many receives. */
    reason: MessageAttributes?.['reason']?.StringValue ?? null,
    detailType: typeof detailType === 'string' ? detailType : null,
    source: typeof source === 'string' ? source : null,
    /** The event's `resources`. `events put` adds a mark to them. */
    resources: Array.isArray(resources) ? resources.map(String) : [],
    /** Name of the replay that sent the event; null for an event from its original sender. */
    replay: typeof replay === 'string' ? replay : null,
    /** When the message reached the dead-letter queue, epoch milliseconds. */
    since: Number(Attributes?.SentTimestamp ?? 0),
    body: Body,
    /** Message group, if the queue is a FIFO queue. */
    group: Attributes?.MessageGroupId,
    /** All message attributes, such as `reason` and `refusals` (how often the event has been refused). */
    attributes: MessageAttributes ?? {},
    receiptHandle: ReceiptHandle,
  }
}

/** Parses the event in a dead letter's body; empty if the body is not a JSON object. */
function readEnvelope(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

const entries = (letters: DeadLetter[]) =>
  letters.map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }))

async function deleteMessages(sqs: SQSClient, url: string, letters: DeadLetter[]): Promise<void> {
  if (letters.length === 0) return
  const { Failed = [] } = await sqs.send(
    new DeleteMessageBatchCommand({ QueueUrl: url, Entries: entries(letters) }),
  )
  if (Failed.length > 0) throw new Error(`SQS did not delete ${Failed.length} messages`)
}

async function makeVisible(sqs: SQSClient, url: string, letters: DeadLetter[]): Promise<void> {
  for (let start = 0; start < letters.length; start += maxBatchSize) {
    const batch = entries(letters.slice(start, start + maxBatchSize))
    await sqs.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: url,
        Entries: batch.map((entry) => ({ ...entry, VisibilityTimeout: 0 })),
      }),
    )
  }
}
