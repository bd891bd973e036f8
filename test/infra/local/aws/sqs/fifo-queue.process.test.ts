import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import { openQueues } from '../../../../../infra/local/aws/sqs/queues.ts'
import { openStore } from '../../../../../infra/local/aws/storage/store.ts'
import { accountId, queueModel, stackModel, startStack } from '../stack.ts'

const QueueUrl = `http://localhost/${accountId}/tree.fifo`

async function startFifo() {
  const { sqs } = await startStack(stackModel({ queues: [queueModel('tree.fifo')] }))
  return sqs
}

function send(sqs: SQSClient, MessageGroupId: string, MessageBody: string, MessageDeduplicationId?: string) {
  return sqs.send(
    new SendMessageCommand({
      QueueUrl,
      MessageGroupId,
      MessageBody,
      MessageDeduplicationId: MessageDeduplicationId ?? MessageBody,
    }),
  )
}

async function receive(sqs: SQSClient, MaxNumberOfMessages = 10) {
  const input = { QueueUrl, MaxNumberOfMessages, MessageSystemAttributeNames: ['All' as const] }
  return (await sqs.send(new ReceiveMessageCommand(input))).Messages ?? []
}

const bodies = (messages: { Body?: string | undefined }[]) => messages.map(({ Body }) => Body)

test('a FIFO group is received in order, and is blocked while one of its messages is in flight', async () => {
  const sqs = await startFifo()
  for (const body of ['a1', 'a2', 'b1', 'a3']) await send(sqs, body.slice(0, 1), body)
  const [first] = await receive(sqs, 1)
  expect(first).toMatchObject({
    Body: 'a1',
    Attributes: { MessageGroupId: 'a', MessageDeduplicationId: 'a1' },
  })
  expect(bodies(await receive(sqs))).toEqual(['b1'])
  expect(await receive(sqs)).toEqual([])

  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: first?.ReceiptHandle }))
  const rest = await receive(sqs)
  expect(bodies(rest)).toEqual(['a2', 'a3'])

  const returnFirst = { QueueUrl, ReceiptHandle: rest[0]?.ReceiptHandle, VisibilityTimeout: 0 }
  await sqs.send(new ChangeMessageVisibilityCommand(returnFirst))
  expect(await receive(sqs)).toEqual([])
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: rest[1]?.ReceiptHandle }))
  expect(bodies(await receive(sqs))).toEqual(['a2'])
})

test('a FIFO queue drops a duplicate message, and answers with the id of the first message', async () => {
  const sqs = await startFifo()
  const first = await send(sqs, 'a', 'body', 'same')
  const again = await send(sqs, 'a', 'another body', 'same')
  expect(again.MessageId).toBe(first.MessageId)
  expect(bodies(await receive(sqs))).toEqual(['body'])
})

test('a FIFO queue delivers only from its oldest 120,000 messages, those in flight included', async () => {
  const store = openStore(undefined)
  const model = queueModel('tree.fifo')
  const queue = openQueues(store, stackModel({ queues: [model] })).byArn(model.arn)
  if (queue === undefined) throw new Error('there is no queue')
  const add = (groupId: string, deduplicationId: string) =>
    queue.send({ body: groupId, groupId, deduplicationId, senderId: 'sender' })
  const options = { waitMilliseconds: 0, signal: new AbortController().signal }
  store.atomically(() => {
    for (let i = 0; i < 120_000; i += 1) add('large', String(i))
    add('small', 'the one')
  })
  const [first] = await queue.receive(1, options)
  expect(first?.groupId).toBe('large')
  expect(await queue.receive(10, options)).toEqual([])
  queue.delete(first?.receipt ?? '')
  await queue.receive(1, options)
  expect((await queue.receive(10, options)).map(({ groupId }) => groupId)).toEqual(['small'])
  store.close()
})
