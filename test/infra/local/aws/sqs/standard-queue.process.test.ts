import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openQueues } from '../../../../../infra/local/aws/sqs/queues.ts'
import { openStore } from '../../../../../infra/local/aws/storage/store.ts'
import { queueModel, stackModel, startStack } from '../stack.ts'

async function startQueue() {
  const { sqs } = await startStack(stackModel({ queues: [queueModel('work')] }))
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: 'work' }))
  return { sqs, QueueUrl }
}

test('an SQS long poll ends as soon as a message arrives', async () => {
  const { sqs, QueueUrl } = await startQueue()
  const started = Date.now()
  const receiving = sqs.send(
    new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20, MaxNumberOfMessages: 10 }),
  )
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a' }))
  expect((await receiving).Messages?.map(({ Body }) => Body)).toEqual(['a'])
  expect(Date.now() - started).toBeLessThan(5000)
})

test('a received SQS message is hidden until its visibility timeout ends, and its receives are counted', async () => {
  const { sqs, QueueUrl } = await startQueue()
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'once' }))
  const receive = () =>
    sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames: ['ApproximateReceiveCount'] }),
    )
  const first = (await receive()).Messages?.[0]
  expect((await receive()).Messages).toBeUndefined()
  await sqs.send(
    new ChangeMessageVisibilityCommand({
      QueueUrl,
      ReceiptHandle: first?.ReceiptHandle,
      VisibilityTimeout: 0,
    }),
  )
  const second = (await receive()).Messages?.[0]
  expect(second?.Attributes).toEqual({ ApproximateReceiveCount: '2' })
  await expect(
    sqs.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl,
        ReceiptHandle: first?.ReceiptHandle,
        VisibilityTimeout: 0,
      }),
    ),
  ).rejects.toMatchObject({ name: 'MessageNotInflight' })
})

test('SQS rejects an invalid request with the exception name that AWS uses', async () => {
  const { sqs, QueueUrl } = await startQueue()
  const refused: [() => Promise<unknown>, string][] = [
    [() => sqs.send(new GetQueueUrlCommand({ QueueName: 'none' })), 'QueueDoesNotExist'],
    [
      () => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x'.repeat(1_048_577) })),
      'InvalidParameterValue',
    ],
    [() => sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries: [] })), 'EmptyBatchRequest'],
    [
      () => sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries: [entry('a'), entry('a')] })),
      'BatchEntryIdsNotDistinct',
    ],
    [
      () => sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: 'nonsense' })),
      'ReceiptHandleIsInvalid',
    ],
  ]
  for (const [run, name] of refused) await expect(run(), name).rejects.toMatchObject({ name })
})

function entry(Id: string) {
  return { Id, ReceiptHandle: 'nonsense' }
}

test('a receiver gets a message that becomes visible just when the receiver finds the queue empty', async () => {
  const store = openStore(undefined)
  const queue = openQueues(store, stackModel({ queues: [queueModel('work', { delaySeconds: 1 })] })).find(
    'work',
  )
  const clock = vi.spyOn(Date, 'now').mockReturnValue(1000)
  onTestFinished(() => clock.mockRestore())
  queue.send({ body: 'a', senderId: 'x' })
  // Sending wakes receivers after the current work. Lets that pass before the receiver below waits.
  await setImmediate()
  // The first two looks at the clock come before the message is visible, and all later looks after that.
  for (const now of [1999, 1999]) clock.mockReturnValueOnce(now)
  clock.mockReturnValue(2000)
  const { signal } = new AbortController()
  const messages = await queue.receive(1, { waitMilliseconds: Infinity, signal })
  expect(messages.map(({ body }) => body)).toEqual(['a'])
})
