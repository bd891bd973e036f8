import type { SQSClient } from '@aws-sdk/client-sqs'
import type { DeadLetter } from './dead-letter.ts'
import { visitDeadLetters } from './visit.ts'

/** The dead letters that fit, at most so many; all of them stay where they are. */
export async function collectDeadLetters(
  sqs: SQSClient,
  queueUrl: string,
  { limit, fits = () => true }: { limit: number; fits?: (letter: DeadLetter) => boolean },
): Promise<DeadLetter[]> {
  const found: DeadLetter[] = []
  await visitDeadLetters(sqs, queueUrl, async (letters) => {
    found.push(...letters.filter(fits))
    return { fates: letters.map(() => 'keep'), enough: found.length >= limit }
  })
  return found.slice(0, limit)
}
