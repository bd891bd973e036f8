import { ChangeMessageVisibilityCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { requireEnv } from '../env.ts'
import { errorSummary, log } from '../log.ts'
import { awsClient } from './aws-client.ts'
import { clientOptions } from './client-options.ts'

const sqs = awsClient(new SQSClient(clientOptions()))

/** Pause that doubles with each delivery of a message: 2, 4, 8, … seconds, but at most `maxSeconds`. */
export const growingPause = (message: SQSRecord, maxSeconds: number): number =>
  Math.min(2 ** Number(message.attributes.ApproximateReceiveCount), maxSeconds)

/**
 * Delays the next delivery of a failed message by some seconds. If SQS refuses the delay, the reason is
 * logged, and the message waits for the queue's visibility timeout.
 */
export async function delayRetry(message: SQSRecord, seconds: number): Promise<void> {
  try {
    await sqs.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: requireEnv('QUEUE_URL'),
        ReceiptHandle: message.receiptHandle,
        VisibilityTimeout: seconds,
      }),
    )
  } catch (error) {
    log.warn('the queue could not be told', { cause: errorSummary(error) })
  }
}
