import type { SQSClient } from '@aws-sdk/client-sqs'
import { setTimeout as wait } from 'node:timers/promises'
import { countMessages, type QueuePair, totalOf } from '../dead-letters/queues.ts'

/** On AWS. The counts of the local stack are exact and quickly read, and a person waits for its start. */
const pollIntervalMilliseconds = 500
const localPollIntervalMilliseconds = 50

/**
 * The wait ends if the number of waiting messages has not fallen below its lowest value for this long. It is
 * longer than the visibility timeout, three minutes, after which a message comes again whose function died.
 */
const maxStallMilliseconds = 200_000

/**
 * Waits until the queues are empty, and reports every count. Requires two zeros in a row, because SQS counts
 * are approximate. Resolves with false if the count has not fallen for `maxStallMilliseconds`.
 */
export async function awaitEmptyQueues(
  sqs: SQSClient,
  pairs: readonly QueuePair[],
  onCount?: (count: number) => void,
): Promise<boolean> {
  const queues = pairs.flatMap(({ queue }) => queue ?? [])
  const isLocal = process.env['AWS_ENDPOINT_URL'] !== undefined
  const interval = isLocal ? localPollIntervalMilliseconds : pollIntervalMilliseconds
  let lowest = Infinity
  let fellAt = Date.now()
  for (let zeros = 0; zeros < 2;) {
    const counts = await Promise.all(queues.map((queue) => countMessages(sqs, queue)))
    const count = counts.reduce((sum, messages) => sum + totalOf(messages), 0)
    onCount?.(count)
    zeros = count === 0 ? zeros + 1 : 0
    if (count < lowest) {
      lowest = count
      fellAt = Date.now()
    }
    if (count > 0 && Date.now() - fellAt > maxStallMilliseconds) return false
    if (zeros < 2) await wait(interval)
  }
  return true
}
