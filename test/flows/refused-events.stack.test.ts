import {
  DeleteMessageCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { expect, it } from 'vitest'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { addUser, adjustment, balanceOf } from '../support/ledger.ts'
import { patience } from '../support/quirks.ts'
import { putEvents } from '../support/put-event.ts'

/** After the last expected dead letter, the test waits this long for dead letters that should not exist. */
const quietMilliseconds = patience(1_000)

/** Deletes all dead letters that contain a text. Resolves with the events' amounts. */
async function takeDeadLetters(text: string, atLeast: number): Promise<string[]> {
  const sqs = new SQSClient(clientOptions())
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: 'wallet-adjusted-dead-letters' }))
  const amounts = new Map<string | undefined, string>()
  const startedAt = Date.now()
  let foundAt = startedAt
  const isWaiting = () =>
    Date.now() - (amounts.size < atLeast ? startedAt : foundAt) <
    (amounts.size < atLeast ? patience(25_000) : quietMilliseconds)
  while (isWaiting()) {
    // Does not hide the messages that it receives, because other tests read the same queue.
    const reading = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 })
    const { Messages = [] } = await sqs.send(reading)
    for (const { MessageId, Body = '', ReceiptHandle } of Messages.filter(({ Body }) =>
      Body?.includes(text),
    )) {
      const { detail } = JSON.parse(Body) as { detail: { amount: string } }
      amounts.set(MessageId, detail.amount)
      foundAt = Date.now()
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
    }
  }
  return [...amounts.values()].sort()
}

it(
  'each refused event leaves one dead letter, and an event that took effect leaves none',
  async () => {
    const userId = await addUser()
    const refused = Array.from({ length: 25 }, (_, i) => String(-100_000 - i))
    const events = refused.flatMap((amount) => [
      adjustment(userId, { amount }),
      adjustment(userId, { amount: '0.5' }),
    ])
    await putEvents('wallet.adjusted', events)
    await expect.poll(() => balanceOf(userId), { timeout: patience(25_000), interval: 100 }).toBe('12.5')
    expect(await takeDeadLetters(`"user_id":${userId},`, refused.length)).toEqual(refused)
  },
  patience(60_000),
)
