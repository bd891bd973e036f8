import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { handler as rewardGranted } from '../../functions/intake/reward.granted.ts'
import { handler as walletAdjusted } from '../../functions/intake/wallet.adjusted.ts'
import { handler as walletTransferred } from '../../functions/intake/wallet.transferred.ts'
import { handler as withdrawalUpdated } from '../../functions/intake/withdrawal.updated.ts'
import type { Intake } from '../../shared/events/intake.ts'
import { readWallet } from '../../shared/ledger/wallet.ts'
import { verifyWallet } from '../../shared/ledger/verify-wallet.ts'
import { deliver, deliverBatch, interceptQueues } from '../support/deliver.ts'
import { addUser, adjustment, describeWallet } from '../support/ledger.ts'
import { runAndDieAt, tamperCalls } from '../support/tamper-calls.ts'

const at = 1_790_000_000_000

/** A little life: what is in the wallets afterwards is the same, however the events were delivered. */
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

describe('the ledger under fire', () => {
  beforeEach(() => {
    vi.restoreAllMocks()
    interceptQueues()
  })

  it('gives each event one effect when it is delivered ten times, shuffled, by parallel consumers', async () => {
    const userId = await addUser()
    const events = makeEvents(userId)
    const again = Array.from({ length: 9 }, () => events).flat()
    // What needs the money of the others comes again until it is there, as from a queue.
    const pending = shuffle([...events, ...again])
    for (let round = 0; pending.length > 0 && round < 20; round += 1) {
      const batch = pending.splice(0)
      const consumers = Array.from({ length: 10 }, (_, i) => batch.filter((_event, j) => j % 10 === i))
      await Promise.all(
        consumers.map(async (its) => {
          for (const event of its) {
            const delivery = await deliver(event.handler, event.detail)
            if (delivery !== 'done') pending.push(event)
          }
        }),
      )
    }
    await expectOneEffect(userId)
  }, 60_000)

  it('loses nothing and doubles nothing when conflicts and throttling meet three calls in ten', async () => {
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
    'survives the death of the consumer between any two calls, the last one carried out: %s',
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

  it('brings a hundred parallel writers of one wallet to the exact sum, each within 3 s', async () => {
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

  it('brings parallel consumers that share nothing but the table to the exact sum', async () => {
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

  it('settles the events of one batch each on its own', async () => {
    const userId = await addUser()
    const first = adjustment(userId, { amount: '5' })
    const deliveries = await deliverBatch(walletAdjusted, [
      first,
      first,
      { ...first, amount: '6' },
      adjustment(userId, { amount: '9', direction: 2 }),
      adjustment(userId, { amount: '2', direction: 2 }),
    ])
    const kinds = deliveries.map((delivery) =>
      typeof delivery === 'string' ? delivery : delivery.refused.split(':')[0],
    )
    expect(kinds).toEqual(['done', 'done', 'conflicting_content', 'insufficient_balance', 'done'])
    const wallet = await readWallet({ userId, wallet: 'asset' }, { consistent: true })
    expect(describeWallet(wallet).holdings).toEqual({ USDT: '3 0 0 0' })
  })
})

/** A consumer with its own memory, as another process would be. */
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
