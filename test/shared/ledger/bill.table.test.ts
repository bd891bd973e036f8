import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { handler as packagePurchased } from '../../../functions/intake/package.purchased.ts'
import { handler as rewardGranted } from '../../../functions/intake/reward.granted.ts'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as walletTransferred } from '../../../functions/intake/wallet.transferred.ts'
import { handler as withdrawalUpdated } from '../../../functions/intake/withdrawal.updated.ts'
import { startOfDay } from '../../../shared/dates.ts'
import { newUserIds, silenceTreeQueue } from '../../support/community.ts'
import { join } from '../../support/community-events.ts'
import { deliver } from '../../support/deliver.ts'
import { adjustment, readAllBills } from '../../support/ledger.ts'

it('every bill shows the instant that its event states, besides that of booking', async () => {
  silenceTreeQueue()
  const user_id = newUserIds()
  await join({
    userId: user_id,
    nickname: 'A',
    email: `${user_id}@example.com`,
    registeredAt: 1_700_000_000_000,
  })
  const startedAt = Date.now()
  let at = 1_700_000_000_000
  const money = () => ({ user_id, currency: 'USDT', amount: '1', at: (at += 1_000) })
  const credit = { amount: '9', at }
  const withdrawal = { withdrawal_id: randomUUID(), ...money() }
  const reward = { user_id, currency: 'USDT', amount: '1' }
  const events = [
    [walletAdjusted, adjustment(user_id, credit)],
    [rewardGranted, { reward_id: randomUUID(), ...reward, reward_type: 'NODE', earned_on: '2024-03-01' }],
    [walletTransferred, { transfer_id: randomUUID(), ...money(), from: 'asset', to: 'reward' }],
    [withdrawalUpdated, { ...withdrawal, status: 'requested' }],
    [withdrawalUpdated, { ...withdrawal, status: 'settled', at: withdrawal.at + 500 }],
    [
      packagePurchased,
      {
        purchase_id: randomUUID(),
        user_id,
        amount: '1',
        at: at + 10_000,
        payment: { wallet: 'asset', currency: 'USDT', amount: '1' },
      },
    ],
  ] as const
  for (const [handler, detail] of events) expect(await deliver(handler, detail)).toBe('done')
  const shown = async (wallet: 'asset' | 'reward') =>
    (await readAllBills(user_id, wallet)).map((bill) => {
      expect(bill.created_at).toBeGreaterThanOrEqual(startedAt)
      return [bill.business_id, bill.occurred_at]
    })
  expect(await shown('asset')).toEqual([
    ['PACKAGE_PURCHASE', at + 10_000],
    ['WITHDRAWAL', withdrawal.at + 500],
    ['TRANSFER_OUT', at],
    ['ADJUSTMENT_CREDIT', credit.at],
  ])
  expect(await shown('reward')).toEqual([
    ['TRANSFER_IN', at],
    ['REWARD', startOfDay('2024-03-01')],
  ])
})
