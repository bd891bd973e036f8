import type { SQSClient } from '@aws-sdk/client-sqs'
import type { DeadLetter } from './dead-letter.ts'
import { visitDeadLetters } from './visit.ts'

/** Deletes the dead letters that fit; resolves with how many. */
export async function dropDeadLetters(
  sqs: SQSClient,
  queueUrl: string,
  fits: (letter: DeadLetter) => boolean,
): Promise<number> {
  let dropped = 0
  await visitDeadLetters(sqs, queueUrl, async (letters) => {
    const fates = letters.map((letter) => (fits(letter) ? 'delete' : 'keep'))
    dropped += fates.filter((fate) => fate === 'delete').length
    return { fates }
  })
  return dropped
}
