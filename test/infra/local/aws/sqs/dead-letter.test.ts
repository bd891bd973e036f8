import {
  ChangeMessageVisibilityCommand,
  ListDeadLetterSourceQueuesCommand,
  ListMessageMoveTasksCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import { accountId, arnOf, queueModel, stackModel, startStack } from '../stack.ts'

const dead = queueModel('dead')
const work = queueModel('work', { redrive: { deadLetterArn: dead.arn, maxReceiveCount: 2 } })
const urlOf = (name: string) => `http://any.host:1/${accountId}/${name}`

async function receiveOne(sqs: SQSClient, name: string) {
  const { Messages } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: urlOf(name),
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    }),
  )
  return Messages?.[0]
}

/** Receives and gives back at once. */
async function fail(sqs: SQSClient) {
  const message = await receiveOne(sqs, 'work')
  await sqs.send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: urlOf('work'),
      ReceiptHandle: message?.ReceiptHandle,
      VisibilityTimeout: 0,
    }),
  )
  return message
}

async function startWithDeadLetter() {
  const stack = await startStack(stackModel({ queues: [work, dead] }))
  const MessageAttributes = { reason: { DataType: 'String', StringValue: 'why' } }
  await stack.sqs.send(
    new SendMessageCommand({ QueueUrl: urlOf('work'), MessageBody: 'poison', MessageAttributes }),
  )
  const first = await fail(stack.sqs)
  await fail(stack.sqs)
  return { ...stack, first }
}

test('a message received too often moves to the dead-letter queue, whole', async () => {
  const { sqs, first } = await startWithDeadLetter()
  expect(await receiveOne(sqs, 'work')).toBeUndefined()
  expect(await receiveOne(sqs, 'dead')).toMatchObject({
    MessageId: first?.MessageId,
    Body: 'poison',
    MessageAttributes: { reason: { StringValue: 'why' } },
    Attributes: { DeadLetterQueueSourceArn: work.arn, SentTimestamp: first?.Attributes?.SentTimestamp },
  })
  const { queueUrls } = await sqs.send(new ListDeadLetterSourceQueuesCommand({ QueueUrl: urlOf('dead') }))
  expect(queueUrls).toEqual([expect.stringMatching(/\/work$/)])
})

test('a redrive takes it back, as a new message', async () => {
  const { sqs, first } = await startWithDeadLetter()
  await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: dead.arn }))
  const { Results } = await sqs.send(new ListMessageMoveTasksCommand({ SourceArn: dead.arn }))
  expect(Results).toMatchObject([{ Status: 'COMPLETED', ApproximateNumberOfMessagesMoved: 1 }])
  const message = await receiveOne(sqs, 'work')
  expect(message).toMatchObject({
    Body: 'poison',
    Attributes: { ApproximateReceiveCount: '1' },
    MessageAttributes: { reason: { StringValue: 'why' } },
  })
  expect(message?.MessageId).not.toBe(first?.MessageId)
  expect(await receiveOne(sqs, 'dead')).toBeUndefined()
})

test('a redrive is refused from a queue that holds no dead letters, and from one that does not exist', async () => {
  const { sqs } = await startWithDeadLetter()
  for (const [SourceArn, name] of [
    [work.arn, 'InvalidParameterValue'],
    [arnOf('sqs', 'none'), 'ResourceNotFoundException'],
  ] as const)
    await expect(sqs.send(new StartMessageMoveTaskCommand({ SourceArn }))).rejects.toMatchObject({ name })
})

test('a purge empties the queue', async () => {
  const { sqs, endpoint } = await startWithDeadLetter()
  await sqs.send(new PurgeQueueCommand({ QueueUrl: urlOf('dead') }))
  expect(await receiveOne(sqs, 'dead')).toBeUndefined()
  expect(endpoint.queues()).toMatchObject([
    { name: 'work', visible: 0, inFlight: 0, isDeadLetterQueue: false },
    { name: 'dead', visible: 0, inFlight: 0, isDeadLetterQueue: true },
  ])
})
