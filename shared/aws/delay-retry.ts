import { ChangeMessageVisibilityCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { requireEnv } from '../env.ts'
import { errorSummary, log } from '../log.ts'
import { awsClient } from './aws-client.ts'
import { clientOptions } from './client-options.ts'

const sqs = awsClient(new SQSClient(clientOptions()))

/**
 * Delays the next delivery of a failed message by 2, 4, 8, … seconds, but by at most `maxSeconds`. If SQS
 * refuses the delay, the reason is logged, and the message waits for the queue's visibility timeout.
 */
export async function delayRetry(message: SQSRecord, maxSeconds: number): Promise<void> {
  const receives = Number(message.attributes.ApproximateReceiveCount)
  try {
    await sqs.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: requireEnv('QUEUE_URL'),
        ReceiptHandle: message.receiptHandle,
        VisibilityTimeout: Math.min(2 ** receives, maxSeconds),
      }),
    )
  } catch (error) {
    log.warn('the queue could not be told', { cause: errorSummary(error) })
  }
}
