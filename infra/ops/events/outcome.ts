import type { SQSClient } from '@aws-sdk/client-sqs'
import { setTimeout as wait } from 'node:timers/promises'
import { collectDeadLetters } from '../dead-letters/actions.ts'
import { countMessages, type QueuePair, totalOf } from '../dead-letters/queues.ts'
import { lineOfMark } from './event-bus.ts'

const pollIntervalMilliseconds = 500

/**
 * Maximum time that the number of waiting messages may stay the same; longer than the retries of early
 * events.
 */
const maxStallMilliseconds = 90_000

/**
 * Waits until the queues are empty, and reports every count. SQS counts are approximate, so only two zeros in
 * a row end the wait. Resolves with false if the count has not fallen for `maxStallMilliseconds`.
 */
export async function awaitEmptyQueues(
  sqs: SQSClient,
  queues: readonly string[],
  onCount: (count: number) => void,
): Promise<boolean> {
  let lowest = Infinity
  let fellAt = Date.now()
  for (let zeros = 0; zeros < 2;) {
    const counts = await Promise.all(queues.map((queue) => countMessages(sqs, queue)))
    const count = counts.reduce((sum, messages) => sum + totalOf(messages), 0)
    onCount(count)
    zeros = count === 0 ? zeros + 1 : 0
    if (count < lowest) {
      lowest = count
      fellAt = Date.now()
    }
    if (count > 0 && Date.now() - fellAt > maxStallMilliseconds) return false
    if (zeros < 2) await wait(pollIntervalMilliseconds)
  }
  return true
}

/** An input line whose event was rejected by its function. */
export interface RejectedLine {
  line: number
  detail_type: string | null
  reason: string
}

const maxListedPerQueue = 1_000

/**
 * Finds the events of a run among the dead letters by their marks; at most 1,000 per queue, sorted by line.
 */
export async function listRejected(
  sqs: SQSClient,
  queues: readonly QueuePair[],
  run: string,
): Promise<RejectedLine[]> {
  const found: RejectedLine[] = []
  const lineOf = (resources: string[]) =>
    resources.map((mark) => lineOfMark(run, mark)).find((line) => line !== undefined)
  for (const { deadLetters } of queues) {
    if ((await countMessages(sqs, deadLetters)).visible === 0) continue
    const letters = await collectDeadLetters(sqs, deadLetters, {
      limit: maxListedPerQueue,
      matches: ({ resources }) => lineOf(resources) !== undefined,
    })
    for (const { resources, detailType, reason } of letters) {
      const line = lineOf(resources) ?? 0
      found.push({ line, detail_type: detailType, reason: reason ?? 'received too often' })
    }
  }
  return found.sort((a, b) => a.line - b.line)
}
