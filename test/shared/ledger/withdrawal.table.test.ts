import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as withdrawalUpdated } from '../../../functions/intake/withdrawal.updated.ts'
import { deliver, refusedAs } from '../../support/deliver.ts'
import { addUser, adjustment, holdingsOf, readPage } from '../../support/ledger.ts'
import { actWhile } from '../../support/tamper-calls.ts'

async function addOwner(): Promise<number> {
  const userId = await addUser()
  for (const currency of ['USDT', 'BTC'])
    await deliver(walletAdjusted, adjustment(userId, { currency, amount: '10' }))
  return userId
}

let userId: number
let request: Record<string, unknown>
beforeEach(async () => {
  userId = await addOwner()
  request = { withdrawal_id: randomUUID(), user_id: userId, currency: 'USDT', amount: '4', at: 1 }
})

describe.each([
  ['another user', async () => ({ user_id: await addOwner() })],
  ['another currency', async () => ({ currency: 'BTC' })],
  ['another amount', async () => ({ amount: '4.000000000000000001' })],
])('a withdrawal update that names %s', (what, change) => {
  it.each([
    ['settled', 'requested'],
    ['cancelled', 'requested'],
    ['requested', 'settled'],
    ['requested', 'cancelled'],
  ])(
    `an update with ${what} and status %s is refused after an update with the status %s`,
    async (status, first) => {
      expect(await deliver(withdrawalUpdated, { ...request, status: first })).toBe('done')
      const changes = await change()
      const owners = [userId, 'user_id' in changes ? changes.user_id : userId]
      const before = await Promise.all(owners.map(holdingsOf))
      expect(await deliver(withdrawalUpdated, { ...request, ...changes, status })).toEqual({
        refused: 'conflicting_content: user_id, currency and amount of a withdrawal may not change',
      })
      expect(await Promise.all(owners.map(holdingsOf))).toEqual(before)
      // The update is accepted if it has the withdrawal's own user, currency and amount.
      expect(await deliver(withdrawalUpdated, { ...request, status })).toBe('done')
    },
  )
})

it('the balance_after of a bill includes the amount that a requested withdrawal holds', async () => {
  expect(await deliver(withdrawalUpdated, { ...request, status: 'requested' })).toBe('done')
  expect(await deliver(walletAdjusted, adjustment(userId, { amount: '1' }))).toBe('done')
  expect((await readPage(userId, 'asset')).records[0]?.balance_after.toFixed()).toBe('11')
})

it('a credit is refused if the sum of balance and hold would have too many digits to store', async () => {
  const amount = '99999999999999999999.999999999999999999'
  for (const [handler, event] of [
    [walletAdjusted, adjustment(userId, { currency: 'ETH', amount })],
    [withdrawalUpdated, { ...request, currency: 'ETH', amount, status: 'requested' }],
  ] as const)
    expect(await deliver(handler, event)).toBe('done')
  const credit = adjustment(userId, { currency: 'ETH', amount: '0.000000000000000002' })
  expect(await deliver(walletAdjusted, credit)).toEqual(refusedAs('balance_too_large'))
})

it('if a withdrawal is settled without an earlier request, its amount moves from the balance to the total withdrawn', async () => {
  expect(await deliver(withdrawalUpdated, { ...request, status: 'settled' })).toBe('done')
  expect(await holdingsOf(userId)).toEqual({ BTC: '10 0 0 0', USDT: '6 0 0 4' })
})

it('a later update of a withdrawal can write the same amount with other digits, such as 4.00 for 4', async () => {
  expect(await deliver(withdrawalUpdated, { ...request, status: 'requested' })).toBe('done')
  expect(await deliver(withdrawalUpdated, { ...request, amount: '4.00', status: 'settled' })).toBe('done')
  expect(await holdingsOf(userId)).toEqual({ BTC: '10 0 0 0', USDT: '6 0 0 4' })
})

it.each([
  ['settled', 'cancelled'],
  ['cancelled', 'settled'],
])(
  'an update of a withdrawal from %s to %s is ignored, and changes no balance and no hold',
  async (first, later) => {
    const other = { ...request, withdrawal_id: randomUUID(), status: 'requested' }
    for (const update of [other, { ...request, status: 'requested' }, { ...request, status: first }])
      expect(await deliver(withdrawalUpdated, update)).toBe('done')
    const before = await holdingsOf(userId)
    expect(await deliver(withdrawalUpdated, { ...request, at: 2, status: later })).toBe('done')
    expect(await holdingsOf(userId)).toEqual(before)
  },
)

it('a withdrawal update that is refused because of a concurrent update is tried again', async () => {
  const send = (status: string) => deliver(withdrawalUpdated, { ...request, amount: '10', status })
  const faster = () => send('requested')
  expect(await actWhile('is answered', 'GetCommand', faster, () => send('settled'))).toBe('done')
  expect(await holdingsOf(userId)).toEqual({ BTC: '10 0 0 0', USDT: '0 0 0 10' })
})
