import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import { arnOf, queueModel, stackModel, startStack } from '../stack.ts'

const QueueName = 'own'

test('a program can make a queue with attributes of its own, and send and receive there', async () => {
  const { sqs } = await startStack(stackModel())
  const Attributes = {
    VisibilityTimeout: '7',
    MessageRetentionPeriod: '600',
    ReceiveMessageWaitTimeSeconds: '1',
  }
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))
  expect((await sqs.send(new GetQueueUrlCommand({ QueueName }))).QueueUrl).toBe(QueueUrl)
  const described = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))
  expect(described.Attributes).toMatchObject({
    ...Attributes,
    QueueArn: arnOf('sqs', QueueName),
    DelaySeconds: '0',
  })
  const receiving = sqs.send(new ReceiveMessageCommand({ QueueUrl }))
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'hello' }))
  expect((await receiving).Messages?.map(({ Body }) => Body)).toEqual(['hello'])
})

test('making a queue again returns its URL if no attribute differs, and is refused if one does', async () => {
  const { sqs } = await startStack(stackModel({ queues: [queueModel('work')] }))
  const create = (name: string, Attributes = {}) =>
    sqs.send(new CreateQueueCommand({ QueueName: name, Attributes }))
  const first = await create(QueueName, { VisibilityTimeout: '7' })
  expect((await create(QueueName)).QueueUrl).toBe(first.QueueUrl)
  expect((await create(QueueName, { VisibilityTimeout: '7' })).QueueUrl).toBe(first.QueueUrl)
  expect((await create('work')).QueueUrl).toBe(queueModel('work').url)
  for (const name of [QueueName, 'work'])
    await expect(create(name, { VisibilityTimeout: '8' })).rejects.toMatchObject({ name: 'QueueNameExists' })
})

test('a queue of a program moves what is received too often to its dead-letter queue', async () => {
  const { sqs } = await startStack(stackModel({ queues: [queueModel('dead')] }))
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arnOf('sqs', 'dead'), maxReceiveCount: '1' })
  const Attributes = { RedrivePolicy, VisibilityTimeout: '0' }
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'poison' }))
  await sqs.send(new ReceiveMessageCommand({ QueueUrl }))
  expect((await sqs.send(new ReceiveMessageCommand({ QueueUrl }))).Messages).toBeUndefined()
  const dead = await sqs.send(new ReceiveMessageCommand({ QueueUrl: queueModel('dead').url }))
  expect(dead.Messages?.map(({ Body }) => Body)).toEqual(['poison'])
})

test.each([
  ['own queue', {}, 'InvalidParameterValue'],
  ['own.fifo', {}, 'InvalidParameterValue'],
  [QueueName, { FifoQueue: 'true' }, 'InvalidAttributeValue'],
  [QueueName, { VisibilityTimeout: '43201' }, 'InvalidAttributeValue'],
  [QueueName, { VisibilityTimeout: '-1' }, 'InvalidAttributeValue'],
  [QueueName, { KmsMasterKeyId: 'alias/any' }, 'InvalidAttributeName'],
  [QueueName, { Policy: '{"Statement":[{"Effect":"Allow","NotPrincipal":"*"}]}' }, 'InvalidAttributeValue'],
  [QueueName, { Policy: 'no json' }, 'InvalidAttributeValue'],
  [QueueName, { RedrivePolicy: '{}' }, 'InvalidAttributeValue'],
  [
    QueueName,
    { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arnOf('sqs', 'none'), maxReceiveCount: 1 }) },
    'InvalidParameterValue',
  ],
])('the queue %j with the attributes %j is refused', async (name, Attributes, code) => {
  const { sqs } = await startStack(stackModel())
  const create = sqs.send(new CreateQueueCommand({ QueueName: name, Attributes }))
  await expect(create).rejects.toMatchObject({ name: code })
})
