import * as v from 'valibot'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Operation } from '../wire/operation.ts'
import { openQueue } from './access.ts'
import type { Queue } from './queue.ts'
import type { Queues } from './queues.ts'
import { describeQueue } from './describe-queue.ts'

const QueueUrl = v.string()
/** Finding queues and reading their attributes. `urlOf` gives a queue's URL at this endpoint. */
export function administrationOperations(
  queues: Queues,
  urlOf: (queue: Queue) => string,
): Record<string, Operation> {
  return {
    GetQueueUrl: operation(v.object({ QueueName: v.string() }), (input, call) => {
      const queue = openQueue(queues, call, 'GetQueueUrl', input.QueueName)
      return { QueueUrl: urlOf(queue) }
    }),

    GetQueueAttributes: operation(
      v.object({ QueueUrl, AttributeNames: v.optional(v.array(v.string()), []) }),
      (input, call) => {
        const all = describeQueue(openQueue(queues, call, 'GetQueueAttributes', input.QueueUrl))
        const names = input.AttributeNames
        if (names.includes('All')) return { Attributes: all }
        const unknown = names.find((name) => !knownAttributes.has(name))
        if (unknown !== undefined) throw invalidAttributeName(unknown)
        return {
          Attributes: Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name))),
        }
      },
    ),
  }
}

const knownAttributes = new Set([
  'QueueArn',
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
  'CreatedTimestamp',
  'LastModifiedTimestamp',
  'VisibilityTimeout',
  'MaximumMessageSize',
  'MessageRetentionPeriod',
  'DelaySeconds',
  'ReceiveMessageWaitTimeSeconds',
  'Policy',
  'RedrivePolicy',
  'RedriveAllowPolicy',
  'SqsManagedSseEnabled',
  'KmsMasterKeyId',
  'KmsDataKeyReusePeriodSeconds',
  'FifoQueue',
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoThroughputLimit',
])

function invalidAttributeName(name: string): AwsError {
  return new AwsError('InvalidAttributeName', `Unknown Attribute ${name}.`)
}
