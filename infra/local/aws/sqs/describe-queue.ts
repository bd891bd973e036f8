import { maximumMessageBytes } from './sending.ts'
import type { Queue } from './queue.ts'

/** All attributes of a queue, by SQS's names. */
export function describeQueue(queue: Queue): Record<string, string> {
  const { model, settings, deadLetter } = queue
  const counts = queue.counts()
  const created = String(Math.floor(queue.createdAt / 1000))
  const Statement = model.policies.flatMap((policy) => policy.Statement)
  return {
    QueueArn: model.arn,
    ApproximateNumberOfMessages: String(counts.visible),
    ApproximateNumberOfMessagesNotVisible: String(counts.inFlight),
    ApproximateNumberOfMessagesDelayed: String(counts.delayed),
    CreatedTimestamp: created,
    LastModifiedTimestamp: created,
    VisibilityTimeout: String(settings.visibilityTimeoutSeconds),
    MaximumMessageSize: String(maximumMessageBytes),
    MessageRetentionPeriod: String(settings.retentionSeconds),
    DelaySeconds: String(settings.delaySeconds),
    ReceiveMessageWaitTimeSeconds: String(settings.receiveWaitSeconds),
    SqsManagedSseEnabled: 'true',
    ...(Statement.length > 0 ? { Policy: JSON.stringify({ Version: '2012-10-17', Statement }) } : {}),
    ...(deadLetter === undefined
      ? {}
      : {
          RedrivePolicy: JSON.stringify({
            deadLetterTargetArn: deadLetter.queue.model.arn,
            maxReceiveCount: deadLetter.maxReceiveCount,
          }),
        }),
    ...(model.fifo
      ? {
          FifoQueue: 'true',
          ContentBasedDeduplication: String(settings.contentBasedDeduplication),
          DeduplicationScope: 'queue',
          FifoThroughputLimit: 'perQueue',
        }
      : {}),
  }
}
