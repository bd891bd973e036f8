import type { SQSClient } from '@aws-sdk/client-sqs'
import { setTimeout as wait } from 'node:timers/promises'
import { countMessages, sumOf } from '../dead-letters/queues.ts'

const pollMilliseconds = 500

/**
 * Waits until queues have no message left, told about each count. SQS counts about, so twice nothing in a row is nothing.
 * False where the count did not fall for so long.
 */
export async function awaitDrained(
  sqs: SQSClient,
  queues: readonly string[],
  patienceMilliseconds: number,
  onCount: (count: number) => void,
): Promise<boolean> {
  let least = Infinity
  let fellAt = Date.now()
  for (let empty = 0; empty < 2;) {
    const counts = await Promise.all(queues.map((queue) => countMessages(sqs, queue)))
    const count = counts.reduce((sum, messages) => sum + sumOf(messages), 0)
    onCount(count)
    empty = count === 0 ? empty + 1 : 0
    if (count < least) {
      least = count
      fellAt = Date.now()
    }
    if (count > 0 && Date.now() - fellAt > patienceMilliseconds) return false
    if (empty < 2) await wait(pollMilliseconds)
  }
  return true
}
