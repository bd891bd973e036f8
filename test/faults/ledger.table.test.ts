import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { handler as rewardGranted } from '../../functions/intake/reward.granted.ts'
import { handler as walletAdjusted } from '../../functions/intake/wallet.adjusted.ts'
import { handler as walletTransferred } from '../../functions/intake/wallet.transferred.ts'
import { handler as withdrawalUpdated } from '../../functions/intake/withdrawal.updated.ts'
import { db } from '../../shared/db/table.ts'
import type { Intake } from '../../shared/events/intake.ts'
import { readWallet } from '../../shared/ledger/wallet.ts'
import { verifyWallet } from '../../shared/ledger/verify-wallet.ts'
import { deliver, deliverBatch, type Delivery, interceptQueues } from '../support/deliver.ts'
import { addUser, adjustment, describeWallet } from '../support/ledger.ts'
import { runAndDieAt, tamperCalls } from '../support/tamper-calls.ts'

const at = 1_700_000_000_000

/** Creates the events of one user. The wallets must end the same, however the events are delivered. */
function makeEvents(userId: number): { path: string; handler: Intake; detail: object }[] {
  const common = { user_id: userId, currency: 'USDT', at }
  const credits = Array.from({ length: 6 }, () => ({
    path: 'wallet.adjusted',
    handler: walletAdjusted,
    detail: adjustment(userId, { amount: '10.000000000000000001' }),
  }))
  return [
    ...credits,
    {
      path: 'reward.granted',
      handler: rewardGranted,
      detail: {
        reward_id: randomUUID(),
        ...common,
        reward_type: 'referral',
        amount: '3',
        earned_on: '2026-11-21',
      },
    },
    {
      path: 'wallet.transferred',
      handler: walletTransferred,
      detail: { transfer_id: randomUUID(), ...common, from: 'reward', to: 'asset', amount: '1' },
    },
    ...(['requested', 'settled'] as const).map((status) => ({
      path: 'withdrawal.updated',
      handler: withdrawalUpdated,
      detail: { withdrawal_id: `w-${userId}`, ...common, amount: '5', status },
    })),
  ]
}

async function expectOneEffect(userId: number): Promise<void> {
  const [asset, reward] = await Promise.all([
    readWallet({ userId, wallet: 'asset' }, { consistent: true }),
    readWallet({ userId, wallet: 'reward' }, { consistent: true }),
  ])
  expect(describeWallet(asset).holdings).toEqual({ USDT: '56.000000000000000006 0 0 5' })
  expect(describeWallet(reward).holdings).toEqual({ USDT: '2 0 0 0' })
  expect(await verifyWallet(asset.id)).toEqual({ bills: 8, differences: [] })
  expect(await verifyWallet(reward.id)).toEqual({ bills: 2, differences: [] })
}

const shuffle = <T>(items: T[]): T[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)

describe('the ledger under faults', () => {
  beforeEach(() => {
    vi.restoreAllMocks()
    interceptQueues()
  })

  it('the ledger applies each event once when ten parallel consumers receive all events, shuffled', async () => {
    const userId = await addUser()
    const events = makeEvents(userId)
    const again = Array.from({ length: 9 }, () => events).flat()
    // A debit that needs the money of another event is delivered again until that money has arrived.
    const pending = shuffle([...events, ...again])
    for (let round = 0; pending.length > 0 && round < 20; round += 1) {
      const batch = pending.splice(0)
      const consumers = Array.from({ length: 10 }, (_, i) => batch.filter((_event, j) => j % 10 === i))
      await Promise.all(
        consumers.map(async (received) => {
          for (const event of received) {
            const delivery = await deliver(event.handler, event.detail)
            if (delivery !== 'done') pending.push(event)
          }
        }),
      )
    }
    await expectOneEffect(userId)
  }, 60_000)

  it('the ledger applies each event once when three of ten DynamoDB calls fail by conflicts and throttling', async () => {
    const userId = await addUser()
    const { restore } = tamperCalls(async ({ name, perform }) => {
      if (!/^(Transact|Get|Query|BatchGet)/.test(name) || Math.random() > 0.3) return perform()
      throw name === 'TransactWriteCommand' || name === 'TransactWriteItemsCommand'
        ? conflict()
        : Object.assign(new Error('slow down'), { name: 'ThrottlingException' })
    })
    try {
      for (const { handler, detail } of makeEvents(userId)) await deliverUntilDone(handler, detail)
    } finally {
      restore()
    }
    await expectOneEffect(userId)
  }, 60_000)

  it.each([true, false])(
    'the ledger applies each event once when the consumer dies at any AWS call, that call carried out: %s',
    async (carriedOut) => {
      const userId = await addUser()
      for (const { path, detail } of makeEvents(userId)) {
        for (let call = 1; ; call += 1) {
          const { handler } = await freshConsumer(path)
          const died = await runAndDieAt(() => handler.deliver(detail), call, carriedOut)
          if (!died) break
        }
      }
      await expectOneEffect(userId)
    },
    60_000,
  )

  it('a hundred parallel postings to one wallet add up exactly, each within 3 s', async () => {
    const userId = await addUser()
    const times = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const start = performance.now()
        const delivery = await deliver(walletAdjusted, adjustment(userId, { amount: '0.01' }))
        expect(delivery).toBe('done')
        return performance.now() - start
      }),
    )
    const wallet = await readWallet({ userId, wallet: 'asset' }, { consistent: true })
    expect(describeWallet(wallet).holdings).toEqual({ USDT: '1 0 0 0' })
    expect(times.toSorted((a, b) => a - b)[98]).toBeLessThan(3_000)
  }, 60_000)

  it('postings of parallel processes to one wallet add up exactly', async () => {
    const userId = await addUser()
    const consumers = await Promise.all(Array.from({ length: 6 }, () => freshConsumer('wallet.adjusted')))
    const details = Array.from({ length: 60 }, () => adjustment(userId, { amount: '0.01' }))
    await Promise.all(
      consumers.map(async ({ handler }, i) => {
        for (const detail of details.filter((_detail, j) => j % consumers.length === i)) {
          while ((await handler.deliver(detail)) !== 'done');
        }
      }),
    )
    const wallet = await readWallet({ userId, wallet: 'asset' }, { consistent: true })
    expect(describeWallet(wallet).holdings).toEqual({ USDT: '0.6 0 0 0' })
  }, 60_000)

  it('each wallet event of one SQS batch gets its own outcome: applied, duplicate or rejected', async () => {
    const userId = await addUser()
    const first = adjustment(userId, { amount: '5' })
    const deliveries = await deliverBatch(walletAdjusted, [
      first,
      first,
      { ...first, amount: '6' },
      adjustment(userId, { amount: '9', direction: 2 }),
      adjustment(userId, { amount: '2', direction: 2 }),
    ])
    expect(kindsOf(deliveries)).toEqual([
      'done',
      'done',
      'conflicting_content',
      'insufficient_balance',
      'done',
    ])
    const wallet = await readWallet({ userId, wallet: 'asset' }, { consistent: true })
    expect(describeWallet(wallet).holdings).toEqual({ USDT: '3 0 0 0' })
  })

  it('a wallet event that comes twice in one SQS batch is applied once, and so are all the others', async () => {
    const userId = await addUser()
    const transactions = refuseRepeatedItems()
    const [first, second, third] = ['5', '2', '1'].map((amount) => adjustment(userId, { amount }))
    const batch = [first, second, first, { ...first, amount: '6' }, third, second] as object[]
    const settled = ['done', 'done', 'done', 'conflicting_content', 'done', 'done']
    expect(kindsOf(await deliverBatch(walletAdjusted, batch))).toEqual(settled)
    expect(transactions()).toBe(1)
    expect(kindsOf(await deliverBatch(walletAdjusted, batch))).toEqual(settled)
    const wallet = await readWallet({ userId, wallet: 'asset' }, { consistent: true })
    expect(describeWallet(wallet).holdings).toEqual({ USDT: '8 0 0 0' })
    expect(await verifyWallet(wallet.id)).toEqual({ bills: 3, differences: [] })
  })

  it('a debit that is covered only at its second place in an SQS batch is applied, without a dead letter', async () => {
    refuseRepeatedItems()
    const userId = await addUser()
    const debit = adjustment(userId, { amount: '5', direction: 2 })
    const credit = adjustment(userId, { amount: '5' })
    const deliveries = await deliverBatch(walletAdjusted, [debit, credit, debit])
    expect(kindsOf(deliveries)).toEqual(['done', 'done', 'done'])
    const wallet = await readWallet({ userId, wallet: 'asset' }, { consistent: true })
    expect(describeWallet(wallet).holdings).toEqual({ USDT: '0 0 0 0' })
  })

  it('an SQS batch of wallet events stays one transaction even if it contains rejected events', async () => {
    const userId = await addUser()
    const transactions = refuseRepeatedItems()
    const details = ['5', '-9', '2', '-9', '1'].map((amount) =>
      adjustment(userId, { amount: amount.replace('-', ''), direction: amount.startsWith('-') ? 2 : 1 }),
    )
    expect(kindsOf(await deliverBatch(walletAdjusted, details))).toEqual([
      'done',
      'insufficient_balance',
      'done',
      'insufficient_balance',
      'done',
    ])
    expect(transactions()).toBe(1)
  })
})

/** The outcomes of deliveries; a rejection by the code of its reason. */
const kindsOf = (deliveries: Delivery[]) =>
  deliveries.map((delivery) => (typeof delivery === 'string' ? delivery : delivery.refused.split(':')[0]))

/**
 * Makes DynamoDB Local reject transactions with two operations on one item, as AWS does. Returns a function
 * that counts the transactions so far, without those that only record a refusal.
 */
function refuseRepeatedItems(): () => number {
  const target = db as unknown as { send: (command: object) => Promise<object> }
  const send = target.send.bind(db)
  let transactions = 0
  vi.spyOn(target, 'send').mockImplementation(async (command) => {
    if (!(command instanceof TransactWriteCommand)) return send(command)
    const keys = (command.input.TransactItems ?? []).map(({ Put, Update, Delete, ConditionCheck }) => {
      const key = Put?.Item ?? (Update ?? Delete ?? ConditionCheck)?.Key
      return JSON.stringify([key?.['pk'], key?.['sk']])
    })
    if (!keys.some((key) => key.includes('REFUSED'))) transactions += 1
    if (new Set(keys).size === keys.length) return send(command)
    const message = 'Transaction request cannot include multiple operations on one item'
    throw Object.assign(new Error(message), { name: 'ValidationException' })
  })
  return () => transactions
}

/** Loads a consumer with fresh module state, as another process would have. */
async function freshConsumer(path: string) {
  vi.resetModules()
  const { handler } = (await import(`../../functions/intake/${path}.ts`)) as { handler: Intake }
  return { handler: { deliver: (detail: object) => deliver(handler, detail) } }
}

async function deliverUntilDone(handler: Intake, detail: object): Promise<void> {
  for (let delivery = 1; (await deliver(handler, detail)) !== 'done'; delivery += 1) {
    if (delivery === 30) throw new Error('an event was never done with')
  }
}

const conflict = () =>
  new TransactionCanceledException({
    message: 'conflict',
    $metadata: {},
    CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }],
  })
