import * as v from 'valibot'
import type { QueueModel, StackModel } from '../../model.ts'
import { AwsError } from '../wire/http-messages.ts'
import { defineOperation, type Operation } from '../wire/operation.ts'
import { describeAttributes, withAttributes } from './queue-attributes.ts'
import type { Queue } from './queue.ts'
import { queueAccess, type Queues } from './queues.ts'

const Attributes = v.optional(v.record(v.string(), v.string()), {})
const CreateInput = v.object({
  QueueName: v.pipe(v.string(), v.regex(/^(?=.{1,80}$)[\w-]+(\.fifo)?$/)),
  Attributes,
})
const QueueInput = v.object({ QueueUrl: v.string() })
const SetInput = v.object({ ...QueueInput.entries, Attributes })

/**
 * SQS operations with which a program makes queues of its own, for example to listen to outcomes of events.
 * `url` is the address of the AWS endpoint. The queues of the stack cannot be changed.
 */
export function ownQueueOperations(
  queues: Queues,
  { region, accountId }: StackModel,
  url: string,
): Record<string, Operation> {
  const arnOf = (name: string) => `arn:aws:sqs:${region}:${accountId}:${name}`
  const newQueue = (name: string): QueueModel => ({
    name,
    url: `${url}/${accountId}/${name}`,
    arn: arnOf(name),
    fifo: name.endsWith('.fifo'),
    // SQS's defaults (SQS: CreateQueue).
    visibilityTimeoutSeconds: 30,
    delaySeconds: 0,
    retentionSeconds: 345_600,
    receiveWaitSeconds: 0,
    redrive: undefined,
    policies: [],
  })
  return {
    CreateQueue: defineOperation(
      CreateInput,
      ({ QueueName }) => ({ action: 'sqs:CreateQueue', resource: arnOf(QueueName) }),
      ({ QueueName: name, Attributes: attributes }) => {
        if (queues.has(name)) return { QueueUrl: compareQueue(queues.find(name).model, attributes).url }
        if (name.endsWith('.fifo') && attributes['FifoQueue'] !== 'true')
          refuseParameter('The name of a queue that is not FIFO cannot end with .fifo.')
        const queue = withAttributes(newQueue(name), attributes)
        put(queues, queue)
        return { QueueUrl: queue.url }
      },
    ),
    SetQueueAttributes: defineOperation(
      SetInput,
      ({ QueueUrl }) => queueAccess('SetQueueAttributes', queues.find(QueueUrl)),
      ({ QueueUrl, Attributes: attributes }) => {
        put(queues, withAttributes(findOwn(queues, QueueUrl).model, attributes))
        return {}
      },
    ),
    DeleteQueue: defineOperation(
      QueueInput,
      ({ QueueUrl }) => queueAccess('DeleteQueue', queues.find(QueueUrl)),
      ({ QueueUrl }) => {
        queues.remove(findOwn(queues, QueueUrl))
        return {}
      },
    ),
  }
}

function put(queues: Queues, queue: QueueModel): void {
  const target = queue.redrive && queues.byArn(queue.redrive.deadLetterArn)
  if (queue.redrive !== undefined && target?.model.fifo !== queue.fifo)
    refuseParameter('The dead-letter queue does not exist, or only one of the queues is FIFO.')
  queues.put(queue)
}

/** CreateQueue may name an existing queue if the queue has all the given attributes (SQS: CreateQueue). */
function compareQueue(queue: QueueModel, attributes: Record<string, string>): QueueModel {
  const [now, wanted] = [queue, withAttributes(queue, attributes)].map(describeAttributes)
  if (JSON.stringify(now) === JSON.stringify(wanted)) return queue
  const message = 'A queue already exists with the same name and a different value for an attribute.'
  throw new AwsError('QueueNameExists', message, { queryCode: 'QueueAlreadyExists' })
}

function findOwn(queues: Queues, url: string): Queue {
  const queue = queues.find(url)
  if (queues.isOwn(queue)) return queue
  throw new AwsError('UnsupportedOperation', 'The queues of the stack cannot be changed here.', {
    queryCode: 'AWS.SimpleQueueService.UnsupportedOperation',
  })
}

function refuseParameter(message: string): never {
  throw new AwsError('InvalidParameterValue', message, { queryCode: 'InvalidParameterValue' })
}
