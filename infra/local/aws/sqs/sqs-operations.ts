import * as v from 'valibot'
import { AwsError } from '../wire/http-messages.ts'
import { defineOperation, type Call, type Operation } from '../wire/operation.ts'
import { md5, md5OfAttributes, MessageAttribute, systemAttributes } from './message.ts'
import type { Message } from './message.ts'
import { describeAttributes } from './queue-attributes.ts'
import type { Queue } from './queue.ts'
import { queueAccess, type Queues } from './queues.ts'

/** Maximum size in bytes of a message (SQS quota). SQS also counts attributes, which are not counted here. */
const maxMessageBytes = 1_048_576
const maxBatchSize = 10

const integerBetween = (minimum: number, maximum: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(minimum), v.maxValue(maximum))
const Names = v.optional(v.array(v.string()), [])
const AttributesInput = v.object({ AttributeNames: Names })

const MessageAttributes = v.pipe(v.record(v.string(), MessageAttribute), v.maxEntries(10))
const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(128))
const SendEntry = v.object({
  MessageBody: v.pipe(v.string(), v.minLength(1)),
  MessageAttributes: v.optional(MessageAttributes, {}),
  MessageGroupId: v.optional(Id),
  MessageDeduplicationId: v.optional(Id),
})
type SendEntry = v.InferOutput<typeof SendEntry>

const ReceiveInput = v.object({
  MaxNumberOfMessages: v.optional(integerBetween(1, 10), 1),
  VisibilityTimeout: v.optional(integerBetween(0, 43_200)),
  WaitTimeSeconds: v.optional(integerBetween(0, 20)),
  AttributeNames: Names,
  MessageSystemAttributeNames: Names,
  MessageAttributeNames: Names,
})
type ReceiveInput = v.InferOutput<typeof ReceiveInput>

const DeleteEntry = v.object({ ReceiptHandle: v.string() })
const HideEntry = v.object({ ...DeleteEntry.entries, VisibilityTimeout: integerBetween(0, 43_200) })

/** SQS operations on queues and messages. Deletions and changes of visibility can also be sent in batches. */
export function sqsOperations(queues: Queues, senderId: string): Record<string, Operation> {
  const remove = (queue: Queue, entry: v.InferOutput<typeof DeleteEntry>) => queue.delete(entry.ReceiptHandle)
  const hide = (queue: Queue, entry: v.InferOutput<typeof HideEntry>) =>
    queue.changeVisibility(entry.ReceiptHandle, entry.VisibilityTimeout)
  return {
    GetQueueUrl: defineOperation(
      v.object({ QueueName: v.string() }),
      (input) => queueAccess('GetQueueUrl', queues.find(input.QueueName)),
      (input) => ({ QueueUrl: queues.find(input.QueueName).model.url }),
    ),
    GetQueueAttributes: onQueue(queues, 'GetQueueAttributes', AttributesInput, (queue, input) => ({
      Attributes: pick(describeQueue(queue), input.AttributeNames),
    })),
    SendMessage: onQueue(queues, 'SendMessage', SendEntry, (queue, entry) =>
      sendMessage(queue, entry, senderId),
    ),
    ReceiveMessage: onQueue(queues, 'ReceiveMessage', ReceiveInput, receiveMessages),
    DeleteMessage: onQueue(queues, 'DeleteMessage', DeleteEntry, remove),
    DeleteMessageBatch: onBatch(queues, 'DeleteMessage', DeleteEntry, remove),
    ChangeMessageVisibility: onQueue(queues, 'ChangeMessageVisibility', HideEntry, hide),
    ChangeMessageVisibilityBatch: onBatch(queues, 'ChangeMessageVisibility', HideEntry, hide),
  }
}

/** Defines an operation on the queue that `QueueUrl` in the input names. `action` is the IAM action. */
function onQueue<const Schema extends v.GenericSchema>(
  queues: Queues,
  action: string,
  schema: Schema,
  run: (queue: Queue, input: v.InferOutput<Schema>, call: Call) => unknown,
): Operation {
  return defineOperation(
    v.intersect([v.object({ QueueUrl: v.string() }), schema]),
    (input) => queueAccess(action, queues.find(input.QueueUrl)),
    (input, call) => run(queues.find(input.QueueUrl), input, call),
  )
}

/** Creates a batch operation on up to ten entries, each of which succeeds or fails on its own. */
function onBatch<const Schema extends v.GenericSchema>(
  queues: Queues,
  action: string,
  schema: Schema,
  run: (queue: Queue, entry: v.InferOutput<Schema>) => void,
): Operation {
  const BatchEntry = v.intersect([v.object({ Id: v.pipe(v.string(), v.regex(/^[\w-]{1,80}$/)) }), schema])
  return onQueue(queues, action, v.object({ Entries: v.array(BatchEntry) }), (queue, { Entries }) => {
    checkBatch(Entries)
    const Successful: unknown[] = []
    const Failed: unknown[] = []
    for (const entry of Entries) {
      try {
        run(queue, entry)
        Successful.push({ Id: entry.Id })
      } catch (error) {
        if (!(error instanceof AwsError)) throw error
        Failed.push({ Id: entry.Id, SenderFault: true, Code: error.code, Message: error.message })
      }
    }
    return { Successful, ...(Failed.length > 0 && { Failed }) }
  })
}

function checkBatch(entries: { Id: string }[]): void {
  const refuse = (code: string, message: string) => {
    throw new AwsError(code, message, { queryCode: `AWS.SimpleQueueService.${code}` })
  }
  if (entries.length === 0) refuse('EmptyBatchRequest', 'There should be at least one entry in the request.')
  if (entries.length > maxBatchSize)
    refuse('TooManyEntriesInBatchRequest', `A request can have ${maxBatchSize} entries at most.`)
  if (new Set(entries.map(({ Id }) => Id)).size < entries.length)
    refuse('BatchEntryIdsNotDistinct', 'Two or more batch entries in the request have the same Id.')
}

function sendMessage(queue: Queue, entry: SendEntry, senderId: string): Record<string, unknown> {
  const { MessageBody: body, MessageAttributes: attributes } = entry
  const { MessageGroupId: groupId, MessageDeduplicationId: deduplicationId } = entry
  if (Buffer.byteLength(body) > maxMessageBytes)
    throw new AwsError('InvalidParameterValue', `Message must be shorter than ${maxMessageBytes} bytes.`)
  if (queue.model.fifo && groupId === undefined)
    throw new AwsError('MissingParameter', 'The request must contain the parameter MessageGroupId.')
  const sent = queue.send({ body, attributes, groupId, deduplicationId, senderId })
  return {
    MessageId: sent.id,
    MD5OfMessageBody: md5(body),
    MD5OfMessageAttributes: md5OfAttributes(attributes),
  }
}

async function receiveMessages(queue: Queue, input: ReceiveInput, { signal }: Call) {
  const messages = await queue.receive(input.MaxNumberOfMessages, {
    visibilitySeconds: input.VisibilityTimeout,
    waitMilliseconds: 1000 * (input.WaitTimeSeconds ?? queue.model.receiveWaitSeconds),
    signal,
  })
  return messages.length === 0 ? {} : { Messages: messages.map((message) => describeMessage(message, input)) }
}

function describeMessage(message: Message, input: ReceiveInput): Record<string, unknown> {
  const systemNames = [...input.AttributeNames, ...input.MessageSystemAttributeNames]
  const attributes = pick(message.attributes, input.MessageAttributeNames)
  return {
    MessageId: message.id,
    ReceiptHandle: message.receipt,
    MD5OfBody: md5(message.body),
    Body: message.body,
    Attributes: pick(systemAttributes(message), systemNames),
    MessageAttributes: attributes,
    MD5OfMessageAttributes: attributes && md5OfAttributes(attributes),
  }
}

/** Picks the attributes with these names; undefined if there are none. `All` and `.*` pick all attributes. */
function pick<Value>(members: Record<string, Value>, names: string[]): Record<string, Value> | undefined {
  const all = names.includes('All') || names.includes('.*')
  const picked = Object.entries(members).filter(([name]) => all || names.includes(name))
  return picked.length === 0 ? undefined : Object.fromEntries(picked)
}

function describeQueue(queue: Queue): Record<string, string> {
  const { model } = queue
  const counts = queue.counts()
  return {
    QueueArn: model.arn,
    ApproximateNumberOfMessages: String(counts.visible),
    ApproximateNumberOfMessagesNotVisible: String(counts.inFlight),
    ApproximateNumberOfMessagesDelayed: String(counts.delayed),
    ...describeAttributes(model),
  }
}
