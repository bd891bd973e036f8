import { openManners, type Manners } from '../../manners.ts'

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

const lateProbability = 0.2
const repetitionProbability = 0.05
const lostAnswerProbability = 0.03
const maxLateMilliseconds = 2000

/** What the queues do when the manners late-messages and lost-answers are on. */
export const drawQueueManners = (manners: Manners): QueueManners => {
  const drawLate = (stream: string) => manners.draw('late-messages', `${stream} by`) * maxLateMilliseconds
  return {
    drawLateness: (queue) => (manners.happens('late-messages', queue, lateProbability) ? drawLate(queue) : 0),
    drawRepetition: (queue) =>
      manners.happens('late-messages', `${queue} again`, repetitionProbability)
        ? drawLate(`${queue} again`)
        : undefined,
    losesAnswer: (queue) => manners.happens('lost-answers', queue, lostAnswerProbability),
  }
}

/** Queues that deliver on time, once and in order. */
export const goodManners: QueueManners = drawQueueManners(openManners())
