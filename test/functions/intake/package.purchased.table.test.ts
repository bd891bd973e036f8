import { randomInt, randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { handler } from '../../../functions/intake/package.purchased.ts'
import { handler as adjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { deliver, deliverLast, refusedAs } from '../../support/deliver.ts'
import { join } from '../../support/community-events.ts'
import { adjustment, readAllBills } from '../../support/ledger.ts'

beforeAll(() => {
  process.env['GROW_TREE_QUEUE_URL'] = 'http://queue.invalid/grow-tree.fifo'
})

it.each([
  ['0.000000000000000001', 'balance_too_large'],
  ['300000000000000000000', 'invalid_detail'],
])('a purchase is refused because its payment of %s cannot be booked: %s', async (amount, reason) => {
  const userId = randomInt(1, 2 ** 47)
  await join({ userId, nickname: 'Buyer', email: `${userId}@example.com`, registeredAt: 1 })
  for (const credit of ['99999999999999999999', '99999999999999999999'])
    expect(await deliver(adjusted, adjustment(userId, { amount: credit }))).toBe('done')
  const payment = { wallet: 'asset', currency: 'USDT', amount }
  const purchase = { purchase_id: randomUUID(), user_id: userId, amount: '1', at: Date.now(), payment }
  expect(await deliverLast(handler, purchase)).toEqual(refusedAs(reason))
  expect(await readAllBills(userId, 'asset')).toHaveLength(2)
})

it('a purchase that comes again for a user who is not registered is refused at once', async () => {
  const userId = randomInt(1, 2 ** 47)
  await join({ userId, nickname: 'Buyer', email: `${userId}@example.com`, registeredAt: 1 })
  const purchase = { purchase_id: randomUUID(), user_id: userId, amount: '1', at: Date.now() }
  expect(await deliver(handler, purchase)).toBe('done')
  expect(await deliver(handler, { ...purchase, user_id: 1 })).toEqual(refusedAs('conflicting_content'))
})
