import { GetQueueUrlCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openQueues } from '../../../../../infra/local/aws/sqs/queues.ts'
import { openStore } from '../../../../../infra/local/aws/storage/store.ts'
import { queueModel, stackModel, startStack } from '../stack.ts'

test('an SQS long poll ends as soon as a message arrives', async () => {
  const { sqs } = await startStack(stackModel({ queues: [queueModel('work')] }))
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: 'work' }))
  const started = Date.now()
  const receiving = sqs.send(
    new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20, MaxNumberOfMessages: 10 }),
  )
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a' }))
  expect((await receiving).Messages?.map(({ Body }) => Body)).toEqual(['a'])
  expect(Date.now() - started).toBeLessThan(5000)
})

test('a waiting receiver gets a message that becomes visible just after the receiver found the queue empty', async () => {
  const store = openStore(undefined)
  const queue = openQueues(store, stackModel({ queues: [queueModel('work', { delaySeconds: 1 })] })).find(
    'work',
  )
  const clock = vi.spyOn(Date, 'now').mockReturnValue(1000)
  onTestFinished(() => clock.mockRestore())
  queue.send({ body: 'a', senderId: 'x' })
  // `send` wakes waiting receivers in the next turn of the event loop. The receiver below starts later.
  await setImmediate()
  // The message becomes visible at 2000. The clock shows 1999 at the next two readings, then 2000.
  for (const now of [1999, 1999]) clock.mockReturnValueOnce(now)
  clock.mockReturnValue(2000)
  const { signal } = new AbortController()
  const messages = await queue.receive(1, { waitMilliseconds: Infinity, signal })
  expect(messages.map(({ body }) => body)).toEqual(['a'])
})
