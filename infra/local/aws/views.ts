import type { Queue } from './sqs/queue.ts'

/** A queue for a person to look at. */
export interface QueueView {
  name: string
  url: string
  arn: string
  visible: number
  inFlight: number
  delayed: number
  /** Whether some queue sends its dead letters here. */
  isDeadLetterQueue: boolean
}

/** A message that nobody could take, for a person to look at. */
export interface DeadLetterView {
  queue: string
  /** Epoch milliseconds. */
  sent_at: number
  /** Why it was refused; null for one that was only received too often. */
  reason: string | null
  body: string
}

/** All queues with their numbers of messages. */
export function viewQueues(queues: Queue[], urlOf: (queue: Queue) => string): QueueView[] {
  return queues.map((queue) => ({
    name: queue.model.name,
    url: urlOf(queue),
    arn: queue.model.arn,
    ...queue.counts(),
    isDeadLetterQueue: queues.some(({ deadLetter }) => deadLetter?.queue === queue),
  }))
}

/** Most dead letters to look at. */
const mostDeadLetters = 50

/** The newest dead letters of all queues. */
export function viewDeadLetters(queues: Queue[]): DeadLetterView[] {
  const holders = new Set(queues.flatMap(({ deadLetter }) => deadLetter?.queue ?? []))
  return [...holders]
    .flatMap((queue) =>
      queue.list().map(({ sentAt, attributes, body }) => ({
        queue: queue.model.name,
        sent_at: sentAt,
        reason: attributes['reason']?.StringValue ?? null,
        body,
      })),
    )
    .sort((one, other) => other.sent_at - one.sent_at)
    .slice(0, mostDeadLetters)
}
