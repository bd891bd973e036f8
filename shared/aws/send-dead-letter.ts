import { type MessageAttributeValue, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { requireEnv } from '../env.ts'
import { awsClient } from './aws-client.ts'
import { clientOptions } from './client-options.ts'

// Makes only one attempt: SQS may accept a message but answer late, and a second attempt would send it again.
// Opens a new connection, because an idle one may be dead.
const agent = { keepAlive: false }
const sqs = awsClient(
  new SQSClient({
    ...clientOptions(),
    requestHandler: { connectionTimeout: 1_000, httpAgent: agent, httpsAgent: agent },
    maxAttempts: 1,
  }),
)

/** Sends a message to the function's dead-letter queue in one attempt within the given milliseconds. */
export async function sendDeadLetter(
  body: string,
  attributes: Record<string, MessageAttributeValue>,
  milliseconds: number,
): Promise<void> {
  const command = new SendMessageCommand({
    QueueUrl: requireEnv('DEAD_LETTER_QUEUE_URL'),
    MessageBody: body,
    MessageAttributes: attributes,
  })
  await sqs.send(command, { abortSignal: AbortSignal.timeout(Math.max(0, milliseconds)) })
}
