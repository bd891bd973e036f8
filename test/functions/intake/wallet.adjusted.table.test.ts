import { describe, expect, it } from 'vitest'
import { handler } from '../../../functions/intake/wallet.adjusted.ts'
import { verifyWallet } from '../../../shared/ledger/verify/wallet.ts'
import { deliver, deliverBatch, deliverLast, refusedAs } from '../../support/deliver.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'
import { addUser, adjustment, holdingsOf, readAllBills } from '../../support/ledger.ts'
import { recordStates, restoreStates } from '../../support/torn-table.ts'

it.each([
  '100000000000000000000',
  '1.0000000000000000001',
  '123456789012345678901234567890123456789',
  '-1',
  '0',
  '0.000',
  '1e5',
  'NaN',
  'Infinity',
  '1,000',
  '1 000',
  '',
  '.5',
  '5.',
  '+5',
  '0x10',
  5,
  null,
])('wallet.adjusted with the invalid amount %j is refused', async (amount) => {
  const userId = await addUser()
  expect(await deliver(handler, adjustment(userId, { amount }))).toEqual(refusedAs('invalid_detail: amount'))
  expect(await readAllBills(userId, 'asset')).toEqual([])
})

it.each(['0.000000000000000001', '99999999999999999999.999999999999999999', '007.50'])(
  'wallet.adjusted keeps every digit of the amount %s',
  async (amount) => {
    const userId = await addUser()
    expect(await deliver(handler, adjustment(userId, { amount }))).toBe('done')
    const [bill] = await readAllBills(userId, 'asset')
    expect(bill?.amount.eq(amount)).toBe(true)
  },
)

it.each(['', ' ', ' \u3000 '])('wallet.adjusted with the blank reason %j is refused', async (reason) => {
  expect(await deliver(handler, adjustment(await addUser(), { reason }))).toEqual(
    refusedAs('invalid_detail: reason'),
  )
})

it('wallet.adjusted changes nothing if the balance would have more than 38 digits', async () => {
  const userId = await addUser()
  const amount = '99999999999999999999.999999999999999999'
  expect(await deliver(handler, adjustment(userId, { amount }))).toBe('done')
  expect(await deliverLast(handler, adjustment(userId, { amount }))).toEqual(refusedAs('balance_too_large'))
  expect((await readAllBills(userId, 'asset')).length).toBe(1)
})

it('wallet.adjusted is retried while its user is not registered', async () => {
  expect(await deliver(handler, adjustment(1))).toBe('retry')
  expect(await deliver(handler, adjustment(1, { direction: 2 }))).toBe('retry')
})

it.each([
  ['an amount with a zero at its end', { amount: '1.50' }, 'done'],
  ['a currency in lower case', { currency: 'usdt' }, 'done'],
  ['the user id as text', (userId: number) => ({ user_id: String(userId) }), 'done'],
  ['another amount', { amount: '1.51' }, 'conflicting_content'],
  ['another currency', { currency: 'BTC' }, 'conflicting_content'],
  ['a user who is not registered', { user_id: 1 }, 'conflicting_content'],
])('an event that comes again with %s is the same or not by its values', async (_what, change, result) => {
  const userId = await addUser()
  const detail = adjustment(userId, { amount: '1.5' })
  await deliver(handler, detail)
  const again = { ...detail, ...(typeof change === 'function' ? change(userId) : change) }
  expect(await deliver(handler, again)).toEqual(result === 'done' ? 'done' : refusedAs(result))
  expect(await holdingsOf(userId)).toEqual({ USDT: '1.5 0 0 0' })
})

it('each message of an SQS batch gets its own outcome, even if two messages contain the same event', async () => {
  const userId = await addUser()
  const [first, second] = ['5', '2'].map((amount) => adjustment(userId, { amount }))
  const [covered, tooMuch] = ['7', '9'].map((amount) => adjustment(userId, { amount, direction: 2 }))
  const batch = [first, second, first, { ...first, amount: '6' }, covered, tooMuch, covered] as object[]
  const kinds = (await deliverBatch(handler, batch)).map((delivery) =>
    typeof delivery === 'string' ? delivery : delivery.refused.split(':')[0],
  )
  expect(kinds).toEqual(['done', 'done', 'done', 'conflicting_content', 'done', 'retry', 'done'])
  expect(await verifyWallet({ userId, wallet: 'asset' })).toEqual({ bills: 3, differences: [] })
})

describe('if the table has lost the wallet’s item, wallet.adjusted', () => {
  async function adjustAfterLoss() {
    const userId = await addUser()
    const adjust = (amount: string) => deliver(handler, adjustment(userId, { amount }))
    const recorded = await recordStates(async () => [await adjust('50'), await adjust('5')])
    const wallet = recorded.filter(({ key }) => key.sk === 'HEAD')
    await restoreStates(wallet, ([before]) => before)
    const metrics = await emittedMetrics(async () => expect(await adjust('7')).toBe('retry'))
    return { userId, metrics, giveBack: () => restoreStates(wallet, (states) => states.at(-1)) }
  }

  it('is retried, as a fault', async () => {
    const { metrics } = await adjustAfterLoss()
    expect(metrics.map(({ name }) => name)).toEqual(['Faults'])
  })

  it('overwrites no bill', async () => {
    const { userId, giveBack } = await adjustAfterLoss()
    await giveBack()
    expect(await verifyWallet({ userId, wallet: 'asset' })).toEqual({ bills: 2, differences: [] })
  })
})
