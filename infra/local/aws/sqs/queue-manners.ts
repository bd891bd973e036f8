import type { Manners } from '../../manners.ts'

const lateProbability = 0.2
const repetitionProbability = 0.05
const lostAnswerProbability = 0.03
const maxLateMilliseconds = 2000

/** Milliseconds by which a message arrives late in a standard queue; different ones change the order. */
export const drawLateness = (manners: Manners, queue: string): number =>
  manners.happens('late-messages', queue, lateProbability) ? drawLate(manners, queue) : 0

/**
 * Milliseconds after which a standard queue delivers a received message once more, deleted or not (SQS:
 * at-least-once delivery); undefined for once only.
 */
export const drawRepetition = (manners: Manners, queue: string): number | undefined =>
  manners.happens('late-messages', `${queue} again`, repetitionProbability)
    ? drawLate(manners, `${queue} again`)
    : undefined

/**
 * Whether the answer of a function to a batch comes too late. Its work is done, but the messages stay, and
 * with them their FIFO groups blocked, until the visibility timeout ends.
 */
export const losesAnswer = (manners: Manners, queue: string): boolean =>
  manners.happens('lost-answers', queue, lostAnswerProbability)

const drawLate = (manners: Manners, stream: string): number =>
  manners.draw('late-messages', `${stream} by`) * maxLateMilliseconds
