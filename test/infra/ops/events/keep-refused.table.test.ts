import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it, vi } from 'vitest'
import { handler } from '../../../../functions/intake/wallet.adjusted.ts'
import { keepRefused } from '../../../../infra/ops/events/keep-refused.ts'
import { contextWith } from '../../../support/deliver.ts'
import { addUser, adjustment, balanceOf } from '../../../support/ledger.ts'
import { toSqsEvent } from '../../../support/sqs-event.ts'

let letters: Message[] = []

beforeEach(() => {
  letters = []
  process.env['QUEUE_URL'] = 'http://queue.invalid/events'
  process.env['DEAD_LETTER_QUEUE_URL'] = 'http://queue.invalid/dead-letters'
  // The cast is needed because TypeScript takes the last overload of `send`, which returns void.
  vi.spyOn(SQSClient.prototype, 'send').mockImplementation(((command: object) => answer(command)) as never)
})

async function answer(command: object): Promise<object> {
  if (command instanceof SendMessageCommand) {
    const { MessageBody: Body, MessageAttributes } = command.input
    letters.push({ MessageId: randomUUID(), Body, MessageAttributes, Attributes: { SentTimestamp: '1' } })
    return {}
  }
  if (command instanceof GetQueueUrlCommand) return { QueueUrl: command.input.QueueName }
  if (command instanceof GetQueueAttributesCommand)
    return { Attributes: { ApproximateNumberOfMessages: String(letters.length) } }
  if (command instanceof ReceiveMessageCommand) return { Messages: letters.splice(0) }
  if (command instanceof ChangeMessageVisibilityBatchCommand) return {}
  throw new Error(`${command.constructor.name} is not expected`)
}

/**
 * Delivers an event for the last time, after a minute. Only a message redriven from a dead-letter queue has
 * the attribute `refusals`.
 */
async function deliver(
  id: string,
  detail: object,
  { refusals, sentAt = Date.now() }: { refusals?: string | undefined; sentAt?: number } = {},
): Promise<void> {
  const body = JSON.stringify({ id, 'detail-type': 'wallet.adjusted', detail })
  const event = toSqsEvent([{ body, sentAt, firstReceivedAt: Date.now() - 60_000, refusals }])
  const { batchItemFailures } = await handler(event, contextWith(30_000))
  expect(batchItemFailures).toEqual([])
}

const pair = { name: 'wallet-adjusted', queue: 'wallet-adjusted', deadLetters: 'dead' }

it.each([
  ['replayed', undefined],
  ['redriven', '1'],
])('during a replay, an event that was refused earlier has no effect if it is %s', async (_, refusals) => {
  const userId = await addUser()
  const id = randomUUID()
  const debit = adjustment(userId, { amount: '4', direction: 2 })
  await deliver(id, debit)
  const number = letters[0]?.MessageAttributes?.['refusals']?.StringValue
  const { isKept, release } = await keepRefused(new SQSClient({}), [pair], Date.now())
  expect(isKept({ eventId: id } as never)).toBe(true)
  await deliver(randomUUID(), adjustment(userId, { amount: '10' }))
  await deliver(id, debit, { refusals })
  expect(await balanceOf(userId)).toBe('10')
  await release()
  // This event was sent before the refusal and redriven after it. Only the attribute `refusals` shows this.
  await deliver(id, debit, { refusals: number, sentAt: 1 })
  expect(await balanceOf(userId)).toBe('6')
})

it.each(['unknown_user', 'unknown_referrer', 'unknown_address'])(
  'an event that was refused with %s may take effect during a later replay',
  async (code) => {
    const id = randomUUID()
    const Body = JSON.stringify({ id, 'detail-type': 'wallet.adjusted', detail: adjustment(1) })
    const reason = { DataType: 'String', StringValue: `${code}: missing` }
    letters.push({ Body, MessageAttributes: { reason }, Attributes: { SentTimestamp: '1' } })
    const { isKept } = await keepRefused(new SQSClient({}), [pair], Date.now())
    expect(isKept({ eventId: id } as never)).toBe(false)
  },
)
