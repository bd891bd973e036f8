import * as v from 'valibot'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Operation } from '../wire/operation.ts'
import { openQueue } from './access.ts'
import type { Queue, QueueSettings } from './queue.ts'
import type { Queues } from './queues.ts'
import { describeQueue } from './describe-queue.ts'

const QueueUrl = v.string()
const ListInput = v.object({
  QueueNamePrefix: v.optional(v.string(), ''),
  MaxResults: v.optional(v.number()),
})

/** Finding queues, reading and changing what they are, emptying them. `urlOf` gives a queue's URL at this endpoint. */
export function administrationOperations(
  queues: Queues,
  urlOf: (queue: Queue) => string,
): Record<string, Operation> {
  return {
    GetQueueUrl: operation(v.object({ QueueName: v.string() }), (input, call) => {
      const queue = openQueue(queues, call, 'GetQueueUrl', input.QueueName)
      return { QueueUrl: urlOf(queue) }
    }),

    ListQueues: operation(ListInput, (input, call) => {
      call.authorize({ action: 'sqs:ListQueues', resource: '*' })
      const found = queues.list().filter(({ model }) => model.name.startsWith(input.QueueNamePrefix))
      return { QueueUrls: found.slice(0, input.MaxResults).map(urlOf) }
    }),

    ListDeadLetterSourceQueues: operation(v.object({ QueueUrl }), (input, call) => {
      const queue = openQueue(queues, call, 'ListDeadLetterSourceQueues', input.QueueUrl)
      // The lower case is SQS's own, in this one member.
      return {
        queueUrls: queues
          .list()
          .filter(({ deadLetter }) => deadLetter?.queue === queue)
          .map(urlOf),
      }
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

    SetQueueAttributes: operation(
      v.object({ QueueUrl, Attributes: v.record(v.string(), v.string()) }),
      (input, call) => {
        const queue = openQueue(queues, call, 'SetQueueAttributes', input.QueueUrl)
        const changes = Object.entries(input.Attributes).map(([name, value]) => readSetting(name, value))
        Object.assign(queue.settings, ...changes)
      },
    ),

    PurgeQueue: operation(v.object({ QueueUrl }), (input, call) => {
      openQueue(queues, call, 'PurgeQueue', input.QueueUrl).purge()
    }),
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

/** The attributes that may change, with the setting behind each and its bounds in seconds. */
const changeable: Record<string, { setting: keyof QueueSettings; minimum: number; maximum: number }> = {
  VisibilityTimeout: { setting: 'visibilityTimeoutSeconds', minimum: 0, maximum: 43_200 },
  DelaySeconds: { setting: 'delaySeconds', minimum: 0, maximum: 900 },
  MessageRetentionPeriod: { setting: 'retentionSeconds', minimum: 60, maximum: 1_209_600 },
  ReceiveMessageWaitTimeSeconds: { setting: 'receiveWaitSeconds', minimum: 0, maximum: 20 },
}

function readSetting(name: string, value: string): Partial<QueueSettings> {
  if (name === 'ContentBasedDeduplication') return { contentBasedDeduplication: value === 'true' }
  const bounds = changeable[name]
  if (bounds === undefined) throw invalidAttributeName(name)
  const number = Number(value)
  if (!/^\d+$/.test(value) || number < bounds.minimum || number > bounds.maximum)
    throw new AwsError('InvalidAttributeValue', `Invalid value for the parameter ${name}.`)
  return { [bounds.setting]: number }
}

function invalidAttributeName(name: string): AwsError {
  return new AwsError('InvalidAttributeName', `Unknown Attribute ${name}.`)
}
