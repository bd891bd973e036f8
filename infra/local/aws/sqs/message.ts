import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { AwsError } from '../wire/http-messages.ts'

/** A message attribute in SQS's JSON protocol. Binary values are not supported. */
export const MessageAttribute = v.object({
  DataType: v.picklist(['String', 'Number']),
  StringValue: v.string(),
})
export type MessageAttribute = v.InferOutput<typeof MessageAttribute>

/** A message in an SQS queue. Instants are epoch milliseconds. */
export interface Message {
  /** Sequence number in the order in which messages arrived. */
  position: number
  id: string
  body: string
  attributes: Record<string, MessageAttribute>
  senderId: string
  sentAt: number
  /** When the message can be received next. */
  visibleAt: number
  receiveCount: number
  firstReceivedAt: number | null
  /** Receipt handle of the last receive; null before the first one. */
  receipt: string | null
  groupId: string | null
  deduplicationId: string | null
  deadLetterSourceArn: string | null
}

/** Creates a receipt handle from the message's id and a random part that differs for each receive. */
export function createReceipt(messageId: string): string {
  return Buffer.from(`${messageId}:${randomBytes(12).toString('hex')}`).toString('base64')
}

/** Reads the message id from a receipt handle. Throws ReceiptHandleIsInvalid if there is none. */
export function readReceipt(receiptHandle: string): string {
  const match = /^([0-9a-f-]{36}):[0-9a-f]{24}$/.exec(Buffer.from(receiptHandle, 'base64').toString())
  if (match?.[1] !== undefined) return match[1]
  const code = 'ReceiptHandleIsInvalid'
  throw new AwsError(code, 'The input receipt handle is not valid.', { status: 404, queryCode: code })
}

/** Returns a message's system attributes, with SQS's names. */
export function systemAttributes(message: Message): Record<string, string> {
  const attributes: Record<string, string | null> = {
    ApproximateReceiveCount: String(message.receiveCount),
    SentTimestamp: String(message.sentAt),
    MessageGroupId: message.groupId,
    SenderId: message.senderId,
    MessageDeduplicationId: message.deduplicationId,
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt ?? message.sentAt),
    DeadLetterQueueSourceArn: message.deadLetterSourceArn,
  }
  return Object.fromEntries(
    Object.entries(attributes).filter((pair): pair is [string, string] => pair[1] !== null),
  )
}

/** Computes SQS's checksum of a message body: MD5 in hexadecimal. */
export function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}

/** Computes SQS's MD5 checksum of message attributes; undefined if there are none. */
export function md5OfAttributes(attributes: Record<string, MessageAttribute>): string | undefined {
  const sorted = Object.entries(attributes).sort(([left], [right]) => (left < right ? -1 : 1))
  if (sorted.length === 0) return undefined
  const hash = createHash('md5')
  const add = (text: string) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(Buffer.byteLength(text))
    hash.update(length).update(text)
  }
  for (const [name, { DataType, StringValue }] of sorted) {
    add(name)
    add(DataType)
    // In SQS's checksum, the byte 0x01 before a value marks it as text.
    hash.update(Buffer.from([1]))
    add(StringValue)
  }
  return hash.digest('hex')
}
