import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { type DeadLetter, toDeadLetter } from './dead-letter.ts'

/** What is to become of messages that were looked at, in their order. */
export interface Verdict {
  fates: ('keep' | 'delete')[]
  /** Whether no more need be looked at. */
  enough?: boolean
}

/** For how long a message is hidden from others while it is looked at, in seconds. */
const hiddenSeconds = 120

/**
 * Looks at the messages of a dead-letter queue, ten at a time, each at most once, and at none that arrives meanwhile. What is
 * kept is visible again afterwards. Ends when the queue has no more to show, or the verdict says so.
 */
export async function visitDeadLetters(
  sqs: SQSClient,
  queueUrl: string,
  decide: (letters: DeadLetter[]) => Promise<Verdict>,
): Promise<void> {
  const begun = Date.now()
  const kept: DeadLetter[] = []
  try {
    for (;;) {
      const letters = await receive(sqs, queueUrl)
      kept.push(...letters)
      const older = letters.filter(({ since }) => since <= begun)
      if (older.length === 0) return
      const { fates, enough = false } = await decide(older)
      const done = older.filter((_, index) => fates[index] === 'delete')
      await remove(sqs, queueUrl, done)
      for (const letter of done) kept.splice(kept.indexOf(letter), 1)
      if (enough) return
    }
  } finally {
    await release(sqs, queueUrl, kept)
  }
}

async function receive(sqs: SQSClient, queueUrl: string): Promise<DeadLetter[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: 10,
      VisibilityTimeout: hiddenSeconds,
      // Long polling asks every server of the queue, where short polling may miss messages.
      WaitTimeSeconds: 1,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['SentTimestamp', 'MessageGroupId'],
    }),
  )
  return Messages.map(toDeadLetter)
}

const entries = (letters: DeadLetter[]) =>
  letters.map(({ receipt }, index) => ({ Id: String(index), ReceiptHandle: receipt }))

async function remove(sqs: SQSClient, queueUrl: string, letters: DeadLetter[]): Promise<void> {
  if (letters.length === 0) return
  const { Failed = [] } = await sqs.send(
    new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries(letters) }),
  )
  if (Failed.length > 0) throw new Error(`SQS did not delete ${Failed.length} messages`)
}

async function release(sqs: SQSClient, queueUrl: string, letters: DeadLetter[]): Promise<void> {
  for (let start = 0; start < letters.length; start += 10) {
    const some = entries(letters.slice(start, start + 10))
    await sqs.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queueUrl,
        Entries: some.map((entry) => ({ ...entry, VisibilityTimeout: 0 })),
      }),
    )
  }
}
