import type { Quirks } from '../../quirks.ts'

const lateProbability = 0.2
const repetitionProbability = 0.05
const lostAnswerProbability = 0.03
const maxLateMilliseconds = 2000

/** Picks a random delay in milliseconds for a message of a standard queue, so that the order changes. */
export const drawLateness = (quirks: Quirks, queue: string): number =>
  quirks.happens('late-messages', queue, lateProbability) ? drawLate(quirks, queue) : 0

/**
 * Decides at random whether a standard queue delivers a received message again, even a deleted one (SQS:
 * at-least-once delivery). Returns the delay in milliseconds; undefined for no delivery.
 */
export const drawRepetition = (quirks: Quirks, queue: string): number | undefined =>
  quirks.happens('late-messages', `${queue} again`, repetitionProbability)
    ? drawLate(quirks, `${queue} again`)
    : undefined

/**
 * Chooses at random whether a function's answer to a batch is lost. After a lost answer, the messages stay in
 * the queue and block their FIFO groups until the visibility timeout ends, although the function has done its
 * work.
 */
export const losesAnswer = (quirks: Quirks, queue: string): boolean =>
  quirks.happens('lost-answers', queue, lostAnswerProbability)

const drawLate = (quirks: Quirks, stream: string): number =>
  quirks.draw('late-messages', `${stream} by`) * maxLateMilliseconds
