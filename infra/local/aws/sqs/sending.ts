import * as v from 'valibot'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Operation } from '../wire/operation.ts'
import { openQueue } from './access.ts'
import { BatchEntryId, checkBatch, runBatch } from './batch.ts'
import { md5, md5OfAttributes, messageBytes, MessageAttribute } from './message.ts'
import type { Queue } from './queue.ts'
import type { Queues } from './queues.ts'

/** SQS's limit for a message with its attributes, and for a batch of them. */
export const maximumMessageBytes = 1_048_576

const Attributes = v.pipe(
  v.record(v.string(), MessageAttribute),
  v.check((attributes) => Object.keys(attributes).length <= 10, 'at most ten'),
)
const SendEntry = v.object({
  MessageBody: v.pipe(v.string(), v.minLength(1)),
  DelaySeconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(900))),
  MessageAttributes: v.optional(Attributes, {}),
  MessageSystemAttributes: v.optional(v.object({ AWSTraceHeader: v.optional(MessageAttribute) }), {}),
  MessageGroupId: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
  MessageDeduplicationId: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
})
type SendEntry = v.InferOutput<typeof SendEntry>
const SendBatch = v.object({
  QueueUrl: v.string(),
  Entries: v.array(v.object({ Id: BatchEntryId, ...SendEntry.entries })),
})

/** SendMessage and its batch. */
export function sendingOperations(queues: Queues, senderId: string): Record<string, Operation> {
  return {
    SendMessage: operation(v.object({ QueueUrl: v.string(), ...SendEntry.entries }), (input, call) =>
      send(openQueue(queues, call, 'SendMessage', input.QueueUrl), input, senderId),
    ),

    SendMessageBatch: operation(SendBatch, (input, call) => {
      const queue = openQueue(queues, call, 'SendMessage', input.QueueUrl)
      checkBatch(input.Entries)
      const bytes = input.Entries.reduce((sum, entry) => sum + entryBytes(entry), 0)
      if (bytes > maximumMessageBytes)
        throw new AwsError(
          'BatchRequestTooLong',
          `Batch requests cannot be longer than ${maximumMessageBytes} bytes. You have sent ${bytes} bytes.`,
          { queryCode: 'AWS.SimpleQueueService.BatchRequestTooLong' },
        )
      return queue.atomically(() => runBatch(input.Entries, (entry) => send(queue, entry, senderId)))
    }),
  }
}

function entryBytes(entry: SendEntry): number {
  return messageBytes(entry.MessageBody, entry.MessageAttributes)
}

function send(queue: Queue, entry: SendEntry, senderId: string): Record<string, unknown> {
  if (entryBytes(entry) > maximumMessageBytes)
    throw new AwsError(
      'InvalidParameterValue',
      `One or more parameters are invalid. Reason: Message must be shorter than ${maximumMessageBytes} bytes.`,
    )
  if (queue.model.fifo && entry.MessageGroupId === undefined)
    throw new AwsError('MissingParameter', 'The request must contain the parameter MessageGroupId.')
  if (queue.model.fifo && entry.DelaySeconds !== undefined && entry.DelaySeconds > 0)
    throw new AwsError(
      'InvalidParameterValue',
      `Value ${entry.DelaySeconds} for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.`,
    )
  const traceHeader = entry.MessageSystemAttributes.AWSTraceHeader
  const { messageId, sequenceNumber } = queue.send({
    body: entry.MessageBody,
    attributes: entry.MessageAttributes,
    traceHeader: traceHeader?.StringValue,
    delaySeconds: entry.DelaySeconds,
    groupId: entry.MessageGroupId,
    deduplicationId: entry.MessageDeduplicationId,
    senderId,
  })
  return {
    MessageId: messageId,
    MD5OfMessageBody: md5(entry.MessageBody),
    MD5OfMessageAttributes: md5OfAttributes(entry.MessageAttributes),
    MD5OfMessageSystemAttributes: traceHeader && md5OfAttributes({ AWSTraceHeader: traceHeader }),
    SequenceNumber: sequenceNumber,
  }
}
