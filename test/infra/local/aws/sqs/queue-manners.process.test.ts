import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import { goodManners, type QueueManners } from '../../../../../infra/local/aws/sqs/queue-manners.ts'
import { accountId, queueModel, stackModel, startStack } from '../stack.ts'

async function startQueue(name: string, manners: Partial<QueueManners>) {
  const model = stackModel({ queues: [queueModel(name, { visibilityTimeoutSeconds: 30 })] })
  const { sqs } = await startStack(model, { queueManners: { ...goodManners, ...manners } })
  const QueueUrl = `http://localhost/${accountId}/${name}`
  const fifo = name.endsWith('.fifo')
  return {
    send: (...bodies: string[]) =>
      sqs.send(
        new SendMessageBatchCommand({
          QueueUrl,
          Entries: bodies.map((body) => ({
            Id: body,
            MessageBody: body,
            ...(fifo ? { MessageGroupId: 'group', MessageDeduplicationId: body } : {}),
          })),
        }),
      ),
    /** Receives and deletes what can be received within this time; returns the bodies. */
    take: async (WaitTimeSeconds: number) => {
      const input = { QueueUrl, WaitTimeSeconds, MaxNumberOfMessages: 10 }
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(input))
      for (const { ReceiptHandle } of Messages)
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
      return Messages.map(({ Body }) => Body)
    },
  }
}

test('with manners, messages of a standard queue arrive late and in another order', async () => {
  const lateness = [400, 200]
  const { send, take } = await startQueue('work', { drawLateness: () => lateness.shift() ?? 0 })
  await send('first', 'second')
  expect(await take(0)).toEqual([])
  expect(await take(5)).toEqual(['second'])
  expect(await take(5)).toEqual(['first'])
})

test('with manners, a standard queue delivers a message again although it was deleted', async () => {
  const repetitions = [200]
  const { send, take } = await startQueue('work', { drawRepetition: () => repetitions.shift() })
  await send('again')
  expect(await take(0)).toEqual(['again'])
  expect(await take(0)).toEqual([])
  expect(await take(5)).toEqual(['again'])
  expect(await take(1)).toEqual([])
})

test('with manners, a FIFO queue still delivers each message once, in time and in order', async () => {
  const { send, take } = await startQueue('work.fifo', {
    drawLateness: () => 60_000,
    drawRepetition: () => 0,
  })
  await send('1', '2', '3')
  expect(await take(0)).toEqual(['1', '2', '3'])
  expect(await take(0)).toEqual([])
})
