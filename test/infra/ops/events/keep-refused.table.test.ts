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
import { handler as assignAddress } from '../../../../functions/intake/address.assigned.ts'
import { handler as provisionAddresses } from '../../../../functions/intake/addresses.provisioned.ts'
import { handler as updateDeposit } from '../../../../functions/intake/deposit.updated.ts'
import { handler as adjustWallet } from '../../../../functions/intake/wallet.adjusted.ts'
import { keepRefused } from '../../../../infra/ops/events/keep-refused.ts'
import { readAddresses } from '../../../../shared/deposits/address.ts'
import { depositId, readDeposit } from '../../../../shared/deposits/deposit.ts'
import type { Intake } from '../../../../shared/events/intake.ts'
import { contextWith } from '../../../support/deliver.ts'
import { assignment, deposit, newPool, provision } from '../../../support/deposits.ts'
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
  {
    refusals,
    sentAt = Date.now(),
    handler = adjustWallet,
  }: { refusals?: string | undefined; sentAt?: number; handler?: Intake } = {},
): Promise<void> {
  const body = JSON.stringify({ id, 'detail-type': handler.detailType, detail })
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

/** Provisions an address for a pool of its own. */
async function addAddress() {
  const pool = newPool()
  const batch = provision(pool, 1)
  await deliver(randomUUID(), batch, { handler: provisionAddresses })
  return { pool, address: batch.addresses[0]?.address ?? '' }
}

/** A failed deposit that is reported as confirmed, too, and what it becomes if that is replayed first. */
async function contradictedDeposit() {
  const { pool, address } = await addAddress()
  const assigned = assignment(pool, address, await addUser(), Date.now())
  await deliver(randomUUID(), assigned, { handler: assignAddress })
  const standing = deposit({ ...assigned, tag: null, required_confirmations: 12, created_at: 0 })
  const { currency_network: network, txid, output_index: outputIndex } = standing
  const read = async () => (await readDeposit(depositId({ network, txid, outputIndex })))?.status
  return { standing: { ...standing, status: 'failed' }, refused: standing, read, expected: 'FAILED' }
}

/** An address that is assigned to two users, and whose it becomes if the second one is replayed first. */
async function contestedAddress() {
  const { pool, address } = await addAddress()
  const [owner, other] = [await addUser(), await addUser()]
  const read = async () => (await readAddresses([{ network: pool.network, address }]))[0]?.user_id
  const [standing, refused] = [owner, other].map((id) => assignment(pool, address, id, Date.now()))
  return { standing, refused, read, expected: owner }
}

/** A batch of addresses, and which addresses are known if another one of its id is replayed first. */
async function changedBatch() {
  const pool = newPool()
  const standing = provision(pool, 1)
  const refused = { ...standing, ...provision(pool, 1), batch_id: standing.batch_id }
  const all = [...standing.addresses, ...refused.addresses]
  const read = async () =>
    (await readAddresses(all.map(({ address }) => ({ network: pool.network, address })))).map(
      ({ address }) => address,
    )
  return { standing, refused, read, expected: standing.addresses.map(({ address }) => address) }
}

it.each([
  ['deposit', updateDeposit, 'contradicts_final_status', contradictedDeposit],
  ['assignment of an address', assignAddress, 'conflicting_content', contestedAddress],
  ['batch of addresses', provisionAddresses, 'conflicting_content', changedBatch],
])(
  'during a replay, a refused %s has no effect if it comes before the event that stands',
  async (_what, handler, code, prepare) => {
    const { standing = {}, refused = {}, read, expected } = await prepare()
    const id = randomUUID()
    const Body = JSON.stringify({ id, 'detail-type': handler.detailType, detail: refused })
    const reason = { DataType: 'String', StringValue: `${code}: as before the restore` }
    letters = [{ Body, MessageAttributes: { reason }, Attributes: { SentTimestamp: '1' } }]
    await keepRefused(new SQSClient({}), [pair], Date.now())
    await deliver(id, refused, { handler })
    await deliver(randomUUID(), standing, { handler })
    expect(await read()).toEqual(expected)
  },
)
