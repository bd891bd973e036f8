import type { Manners } from '../../manners.ts'

const lateProbability = 0.2
const repetitionProbability = 0.05
const lostAnswerProbability = 0.03
const maxLateMilliseconds = 2000

/** Chooses at random how many milliseconds late a standard queue delivers a message, so the order changes. */
export const drawLateness = (manners: Manners, queue: string): number =>
  manners.happens('late-messages', queue, lateProbability) ? drawLate(manners, queue) : 0

/**
 * Chooses at random after how many milliseconds a standard queue delivers a received message once more, even
 * if it was deleted (SQS: at-least-once delivery); undefined for no second delivery.
 */
export const drawRepetition = (manners: Manners, queue: string): number | undefined =>
  manners.happens('late-messages', `${queue} again`, repetitionProbability)
    ? drawLate(manners, `${queue} again`)
    : undefined

/**
 * Chooses at random whether a function's answer to a batch is lost. The function has done its work, but the
 * messages stay in the queue and block their FIFO groups until the visibility timeout ends.
 */
export const losesAnswer = (manners: Manners, queue: string): boolean =>
  manners.happens('lost-answers', queue, lostAnswerProbability)

const drawLate = (manners: Manners, stream: string): number =>
  manners.draw('late-messages', `${stream} by`) * maxLateMilliseconds
