/**
 * What AWS's queues may do at any time and ours do only when asked: drawn for each message or batch by the
 * one who starts the endpoint. The name of the queue lets it spare some, such as the dead-letter queues.
 */
export interface QueueManners {
  /** Milliseconds by which a message arrives late in a standard queue; different ones change the order. */
  drawLateness: (queueName: string) => number
  /**
   * Milliseconds after which a standard queue delivers a received message once more, deleted or not (SQS:
   * at-least-once delivery); undefined for once only.
   */
  drawRepetition: (queueName: string) => number | undefined
  /**
   * Whether the answer of a function to a batch comes too late. Its work is done, but the messages stay, and
   * with them their FIFO groups blocked, until the visibility timeout ends.
   */
  losesAnswer: (queueName: string) => boolean
}

/** Queues that deliver on time, once and in order. */
export const goodManners: QueueManners = {
  drawLateness: () => 0,
  drawRepetition: () => undefined,
  losesAnswer: () => false,
}
