import {
  ChangeMessageVisibilityCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { expect, test, vi } from 'vitest'
import { openQueues } from '../../../../../infra/local/aws/sqs/queues.ts'
import { openStore } from '../../../../../infra/local/aws/storage/store.ts'
import { accountId, queueModel, stackModel, startStack } from '../stack.ts'

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

/** Receives a message and makes it visible again, as a failed consumer would. */
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

test('an SQS message that was received too often moves unchanged to the dead-letter queue', async () => {
  const { sqs, endpoint, first } = await startWithDeadLetter()
  expect(await receiveOne(sqs, 'work')).toBeUndefined()
  expect(await receiveOne(sqs, 'dead')).toMatchObject({
    MessageId: first?.MessageId,
    Body: 'poison',
    MessageAttributes: { reason: { StringValue: 'why' } },
    Attributes: { DeadLetterQueueSourceArn: work.arn, SentTimestamp: first?.Attributes?.SentTimestamp },
  })
  expect(endpoint.queues()).toMatchObject([
    { name: 'work', visible: 0, inFlight: 0, isDeadLetterQueue: false },
    { name: 'dead', visible: 0, inFlight: 1, isDeadLetterQueue: true },
  ])
})

test('a message that becomes visible during a receive is not received more often than maxReceiveCount', async () => {
  const { signal } = new AbortController()
  const clock = vi.spyOn(Date, 'now')
  const step = 10_000
  try {
    // The clock moves between any two readings. The message becomes visible after 0, 1, 2, … readings.
    for (let readings = 0; readings < 5; readings += 1) {
      const store = openStore(undefined)
      const queue = openQueues(store, stackModel({ queues: [work, dead] })).byArn(work.arn)
      clock.mockReturnValue(0)
      queue?.send({ body: 'poison', senderId: 'sender' })
      const receive = () => queue?.receive(1, { visibilitySeconds: 1, waitMilliseconds: 0, signal })
      await receive()
      clock.mockReturnValue(2_000)
      expect(await receive()).toHaveLength(1)
      let time = 3_000 - 1 - readings * step
      clock.mockImplementation(() => (time += step) - step)
      expect([readings, await receive()]).toEqual([readings, []])
      store.close()
    }
  } finally {
    clock.mockRestore()
  }
})
