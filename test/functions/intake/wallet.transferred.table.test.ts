import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler } from '../../../functions/intake/wallet.transferred.ts'
import { deliver, deliverLast, refusedAs } from '../../support/deliver.ts'
import { addUser, adjustment, readAllBills } from '../../support/ledger.ts'

let owner: number

const transfer = (changes: object = {}) => ({
  transfer_id: randomUUID(),
  user_id: owner,
  from: 'reward',
  to: 'asset',
  currency: 'USDT',
  amount: '4.000000000000000001',
  at: 1_700_000_000_001,
  ...changes,
})

/** The newest bill of each wallet, as text. */
async function newestBills() {
  const bills = await Promise.all([readAllBills(owner, 'reward'), readAllBills(owner, 'asset')])
  return bills.map(
    ([bill]) => bill && `${bill.business_id} ${bill.amount.toFixed()} ${bill.balance_after.toFixed()}`,
  )
}

const before = ['ADJUSTMENT_CREDIT 10 10', 'ADJUSTMENT_CREDIT 1 1']

beforeEach(async () => {
  owner = await addUser()
  await deliver(walletAdjusted, adjustment(owner, { wallet: 'reward', amount: '10' }))
  await deliver(walletAdjusted, adjustment(owner, { amount: '1' }))
})

it('a transfer from the reward wallet adds a bill to each wallet', async () => {
  expect(await deliver(handler, transfer())).toBe('done')
  expect(await newestBills()).toEqual([
    'TRANSFER_OUT 4.000000000000000001 5.999999999999999999',
    'TRANSFER_IN 4.000000000000000001 5.000000000000000001',
  ])
})

it('a transfer from the asset wallet adds a bill to each wallet', async () => {
  expect(await deliver(handler, transfer({ from: 'asset', to: 'reward', amount: '1' }))).toBe('done')
  expect(await newestBills()).toEqual(['TRANSFER_IN 1 11', 'TRANSFER_OUT 1 0'])
})

it('both bills of a transfer name it and its instant', async () => {
  const detail = transfer()
  await deliver(handler, detail)
  const named = { reference: detail.transfer_id, occurred_at: detail.at, remark: null }
  for (const wallet of ['reward', 'asset'] as const)
    expect((await readAllBills(owner, wallet))[0]).toMatchObject(named)
})

it('a transfer that is sent twice moves money once', async () => {
  const detail = transfer({ amount: '1.50' })
  for (const amount of ['1.50', '1.5']) expect(await deliver(handler, { ...detail, amount })).toBe('done')
  expect(await newestBills()).toEqual(['TRANSFER_OUT 1.5 8.5', 'TRANSFER_IN 1.5 2.5'])
})

it('a transfer that comes again in the other direction is refused', async () => {
  const detail = transfer({ amount: '1' })
  await deliver(handler, detail)
  const back = { ...detail, from: 'asset', to: 'reward' }
  expect(await deliver(handler, back)).toEqual(refusedAs('conflicting_content'))
  expect(await newestBills()).toEqual(['TRANSFER_OUT 1 9', 'TRANSFER_IN 1 2'])
})

describe('a transfer that lacks funds', () => {
  const tooMuch = () => transfer({ amount: '10.000000000000000001' })

  it('waits for them', async () => {
    expect(await deliver(handler, tooMuch())).toBe('retry')
    expect(await newestBills()).toEqual(before)
  })

  it('is refused after a minute', async () => {
    expect(await deliverLast(handler, tooMuch())).toEqual(refusedAs('insufficient_balance'))
    expect(await newestBills()).toEqual(before)
  })
})

it('a transfer waits for its user to be registered', async () => {
  expect(await deliver(handler, transfer({ user_id: 1 }))).toBe('retry')
})

it('a transfer is refused if its user is not registered within a minute', async () => {
  expect(await deliverLast(handler, transfer({ user_id: 1 }))).toEqual(refusedAs('unknown_user'))
})

it.each([
  ['to', 'reward'],
  ['from', 'bonus'],
  ['amount', '0'],
  ['currency', 'US DT'],
  ['transfer_id', ''],
])('wallet.transferred with the %s %j is refused', async (field, value) => {
  const delivery = await deliver(handler, transfer({ [field]: value }))
  expect(delivery).toEqual(refusedAs(`invalid_detail: ${field}`))
  expect(await newestBills()).toEqual(before)
})
