import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { DeadLetter } from './dead-letter.ts'
import { visitDeadLetters } from './visit.ts'

/**
 * Sends the dead letters that fit back to the queue that they came from, and then takes them out; resolves with how many.
 * One that had been sent when this died is sent again: what it changes, it changes once.
 */
export async function redriveDeadLetters(
  sqs: SQSClient,
  { from, to, fits }: { from: string; to: string; fits: (letter: DeadLetter) => boolean },
): Promise<number> {
  let moved = 0
  await visitDeadLetters(sqs, from, async (letters) => {
    // One after the other: within a group, order is what the queue is for.
    for (const letter of letters.filter(fits)) await sqs.send(toMessage(letter, to))
    const fates = letters.map((letter) => (fits(letter) ? 'delete' : 'keep'))
    moved += fates.filter((fate) => fate === 'delete').length
    return { fates }
  })
  return moved
}

const toMessage = ({ body, group, id }: DeadLetter, queueUrl: string) =>
  new SendMessageCommand({
    QueueUrl: queueUrl,
    MessageBody: body,
    ...(group === undefined ? {} : { MessageGroupId: group, MessageDeduplicationId: id }),
  })
