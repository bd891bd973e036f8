import { ChangeMessageVisibilityCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { requireEnv } from '../env.ts'
import { errorSummary, log } from '../log.ts'
import { awsClient } from './aws-client.ts'
import { clientOptions } from './client-options.ts'

const sqs = awsClient(new SQSClient(clientOptions()))

/**
 * How long ago a message was received first. One from nobody knows when, as in a direct invocation, counts as
 * received in 1970.
 */
export const waitedMilliseconds = ({ attributes }: Pick<SQSRecord, 'attributes'>): number =>
  Date.now() - (Number(attributes.ApproximateFirstReceiveTimestamp || attributes.SentTimestamp) || 0)

/**
 * Pause before a failed message is received again: as long as it has waited since it was first received, so
 * that the time doubles with each try, but at least 2 and at most `maxSeconds`. The number of receives does
 * not count, because not every receive was a failure: an event may have waited for another one.
 */
export const growingPause = (message: SQSRecord, maxSeconds: number): number =>
  Math.min(Math.max(2, Math.ceil(waitedMilliseconds(message) / 1_000)), maxSeconds)

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
