import type { Message } from '@aws-sdk/client-sqs'

/** A message of a dead-letter queue. */
export interface DeadLetter {
  id: string
  /** What its function said when it gave up; null where the queue gave up, after too many receives. */
  reason: string | null
  detailType: string | null
  source: string | null
  /** Marks that its sender put on it. */
  resources: string[]
  /** When it was put here, epoch milliseconds. */
  since: number
  /** The message whole, as it came. */
  body: string
  /** Group of a message of a first-in-first-out queue. */
  group: string | undefined
  receipt: string
}

/** Reads a message as SQS hands it out. */
export function toDeadLetter(message: Message): DeadLetter {
  const { MessageId = '', Body = '', Attributes, MessageAttributes, ReceiptHandle = '' } = message
  const { 'detail-type': detailType, source, resources } = readEnvelope(Body)
  return {
    id: MessageId,
    reason: MessageAttributes?.['reason']?.StringValue ?? null,
    detailType: typeof detailType === 'string' ? detailType : null,
    source: typeof source === 'string' ? source : null,
    resources: Array.isArray(resources) ? resources.map(String) : [],
    since: Number(Attributes?.SentTimestamp ?? 0),
    body: Body,
    group: Attributes?.MessageGroupId,
    receipt: ReceiptHandle,
  }
}

function readEnvelope(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    // A body that is no JSON has no envelope; it is shown as it is.
    return {}
  }
}

/** Whether a reason is the one that was asked for, by its code or its beginning; all are where none was. */
export const hasReason = (letter: DeadLetter, wanted: string | undefined): boolean =>
  wanted === undefined || (letter.reason ?? 'too_many_receives').startsWith(wanted)
