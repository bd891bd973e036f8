import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { UsageError } from '../errors.ts'
import type { ShowProgress } from '../progress.ts'
import { countMessagesAt, type QueuePair, queueUrl } from './queues.ts'
import { type DeadLetter, visitDeadLetters } from './visit.ts'

type Matches = (letter: DeadLetter) => boolean

/** Whether a dead letter's rejection reason starts with `wanted`; always true if `wanted` is undefined. */
export const hasReason = (letter: DeadLetter, wanted: string | undefined): boolean =>
  wanted === undefined || (letter.reason ?? 'too_many_receives').startsWith(wanted)

/**
 * Collects the matching dead letters of a queue, at most `limit`. All of them stay in the queue. `notRead` is
 * the number of dead letters that may match but were not collected: 0 if the collection is whole.
 */
export async function collectDeadLetters(
  sqs: SQSClient,
  queue: string,
  { limit, matches }: { limit: number; matches: Matches },
): Promise<{ letters: DeadLetter[]; notRead: number }> {
  const found: DeadLetter[] = []
  const left = await visitDeadLetters(sqs, await queueUrl(sqs, queue), async (letters) => {
    found.push(...letters.filter(matches))
    return { toDelete: [], stop: found.length >= limit }
  })
  return { letters: found.slice(0, limit), notRead: left + Math.max(0, found.length - limit) }
}

/** Calls `before` for each matching dead letter of a queue, then deletes the letter. Returns the count. */
export async function dropDeadLetters(
  sqs: SQSClient,
  queue: string,
  matches: Matches,
  before: (letter: DeadLetter) => Promise<unknown> = async () => undefined,
  showProgress?: ShowProgress,
): Promise<number> {
  let dropped = 0
  const url = await queueUrl(sqs, queue)
  const end = showProgress && (await countMessagesAt(sqs, url))
  let visited = 0
  await visitDeadLetters(sqs, url, async (letters) => {
    const toDelete = letters.filter(matches)
    // Send one at a time: messages sent back to a FIFO queue must keep their order within a message group.
    for (const letter of toDelete) await before(letter)
    dropped += toDelete.length
    visited += letters.length
    showProgress?.(visited, end ?? 0)
    return { toDelete }
  })
  return dropped
}

/**
 * Sends the matching dead letters with their attributes back to their source queue, then deletes them.
 * Resolves with their number. A crash in between can send a message twice, but its event takes effect once.
 */
export async function redriveDeadLetters(
  sqs: SQSClient,
  { queue, deadLetters }: QueuePair,
  matches: Matches,
  showProgress?: ShowProgress,
): Promise<number> {
  if (queue === undefined) throw new UsageError('these events are only kept, and have no queue to go back to')
  const target = await queueUrl(sqs, queue)
  const sendBack = (letter: DeadLetter) => sqs.send(toMessage(letter, target))
  return dropDeadLetters(sqs, deadLetters, matches, sendBack, showProgress)
}

const toMessage = ({ body, attributes, group, id }: DeadLetter, url: string) =>
  new SendMessageCommand({
    QueueUrl: url,
    MessageBody: body,
    MessageAttributes: attributes,
    ...(group === undefined ? {} : { MessageGroupId: group, MessageDeduplicationId: id }),
  })
