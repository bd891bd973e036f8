import { createHash } from 'node:crypto'
import * as v from 'valibot'

/** A message attribute as SQS's JSON protocol writes it; binary values are base64. */
export const MessageAttribute = v.object({
  DataType: v.pipe(v.string(), v.regex(/^(String|Number|Binary)(\..+)?$/), v.maxLength(256)),
  StringValue: v.optional(v.string()),
  BinaryValue: v.optional(v.string()),
})
export type MessageAttribute = v.InferOutput<typeof MessageAttribute>

/** What of a message is kept in the store. */
export const MessageRecord = v.object({
  id: v.string(),
  body: v.string(),
  attributes: v.record(v.string(), MessageAttribute),
  traceHeader: v.optional(v.string()),
  senderId: v.string(),
  /** Epoch milliseconds. */
  sentAt: v.number(),
  /** Epoch milliseconds before which nobody receives it. */
  availableAt: v.number(),
  receiveCount: v.number(),
  firstReceivedAt: v.optional(v.number()),
  groupId: v.optional(v.string()),
  deduplicationId: v.optional(v.string()),
  sequenceNumber: v.optional(v.string()),
  /** ARN of the queue that this message was taken out of after too many receives. */
  deadLetterSourceArn: v.optional(v.string()),
})
export type MessageRecord = v.InferOutput<typeof MessageRecord>

/** A message in its queue. */
export interface Message extends MessageRecord {
  /** Where it is: receivable, waiting for its delay to end, or received and hidden. */
  state: 'visible' | 'delayed' | 'inFlight'
  /** The receipt of the last receive. */
  receipt: string | undefined
  /** When it becomes visible, while it is not. */
  timer: NodeJS.Timeout | undefined
}

/** MD5 in hex, SQS's check sum of a body. */
export function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}

/** SQS's check sum over message attributes: sorted by name, each part after its length as four bytes; undefined without any. */
export function md5OfAttributes(attributes: Record<string, MessageAttribute>): string | undefined {
  const names = Object.keys(attributes).sort()
  if (names.length === 0) return undefined
  const hash = createHash('md5')
  const add = (bytes: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    hash.update(length).update(bytes)
  }
  for (const name of names) {
    const attribute = attributes[name]
    if (attribute === undefined) continue
    add(Buffer.from(name))
    add(Buffer.from(attribute.DataType))
    const binary = attribute.DataType.startsWith('Binary')
    hash.update(Buffer.from([binary ? 2 : 1]))
    add(
      binary ? Buffer.from(attribute.BinaryValue ?? '', 'base64') : Buffer.from(attribute.StringValue ?? ''),
    )
  }
  return hash.digest('hex')
}

/** What counts against the size limit: the body and every attribute's name, type and value, in bytes. */
export function messageBytes(body: string, attributes: Record<string, MessageAttribute>): number {
  let bytes = Buffer.byteLength(body)
  for (const [name, { DataType, StringValue = '', BinaryValue = '' }] of Object.entries(attributes))
    bytes += Buffer.byteLength(name + DataType + StringValue) + Buffer.byteLength(BinaryValue, 'base64')
  return bytes
}

/** A message's system attributes, by SQS's names. */
export function systemAttributes(message: Message): Record<string, string> {
  const attributes: Record<string, string | undefined> = {
    ApproximateReceiveCount: String(message.receiveCount),
    AWSTraceHeader: message.traceHeader,
    SentTimestamp: String(message.sentAt),
    SequenceNumber: message.sequenceNumber,
    MessageGroupId: message.groupId,
    SenderId: message.senderId,
    MessageDeduplicationId: message.deduplicationId,
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt ?? message.sentAt),
    DeadLetterQueueSourceArn: message.deadLetterSourceArn,
  }
  return Object.fromEntries(
    Object.entries(attributes).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
}
