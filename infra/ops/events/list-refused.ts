import type { SQSClient } from '@aws-sdk/client-sqs'
import { collectDeadLetters } from '../dead-letters/collect.ts'
import { countMessages, type QueuePair, queueUrl } from '../dead-letters/queues.ts'
import { lineOfMark } from './make-batches.ts'

/** An event of an input that its function has refused. */
export interface RefusedEvent {
  line: number
  detail_type: string | null
  reason: string
}

/** Most events that are listed for one queue. */
export const mostListed = 1_000

/** Looks for the events of an input among the dead letters, by their marks. */
export async function listRefused(
  sqs: SQSClient,
  queues: readonly QueuePair[],
  run: string,
): Promise<RefusedEvent[]> {
  const found: RefusedEvent[] = []
  const lineOf = (resources: string[]) =>
    resources.map((mark) => lineOfMark(run, mark)).find((line) => line !== undefined)
  for (const { deadLetters } of queues) {
    if ((await countMessages(sqs, deadLetters)).visible === 0) continue
    const letters = await collectDeadLetters(sqs, await queueUrl(sqs, deadLetters), {
      limit: mostListed,
      fits: ({ resources }) => lineOf(resources) !== undefined,
    })
    for (const { resources, detailType, reason } of letters) {
      const line = lineOf(resources) ?? 0
      found.push({ line, detail_type: detailType, reason: reason ?? 'given up after too many attempts' })
    }
  }
  return found.sort((a, b) => a.line - b.line)
}
