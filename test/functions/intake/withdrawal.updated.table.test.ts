import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as withdrawalUpdated } from '../../../functions/intake/withdrawal.updated.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { deliver, deliverLast, refusedAs } from '../../support/deliver.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'
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
  request = {
    withdrawal_id: randomUUID(),
    user_id: userId,
    currency: 'USDT',
    amount: '4',
    at: 1_700_000_000_001,
  }
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
      // Without a request before it, a settlement waits for one.
      expect(await deliverLast(withdrawalUpdated, { ...request, status: first })).toBe('done')
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
  expect(await deliverLast(walletAdjusted, credit)).toEqual(refusedAs('balance_too_large'))
})

it('a settlement without a request changes nothing until it has waited a minute for the request', async () => {
  expect(await deliver(withdrawalUpdated, { ...request, status: 'settled' })).toBe('retry')
  expect(await holdingsOf(userId)).toEqual({ BTC: '10 0 0 0', USDT: '10 0 0 0' })
})

it('a settlement whose request comes within the minute settles what was requested', async () => {
  const settled = { ...request, status: 'settled' }
  expect(await deliver(withdrawalUpdated, settled)).toBe('retry')
  expect(await deliver(withdrawalUpdated, { ...request, status: 'requested' })).toBe('done')
  const metrics = await emittedMetrics(async () =>
    expect(await deliver(withdrawalUpdated, settled)).toBe('done'),
  )
  expect(metrics).toMatchObject([{ name: 'Events', dimensions: { outcome: 'applied' } }])
  expect(await holdingsOf(userId)).toEqual({ BTC: '10 0 0 0', USDT: '6 0 0 4' })
})

describe('a settlement without a request', () => {
  const settle = () => deliverLast(withdrawalUpdated, { ...request, status: 'settled' })

  it('is applied after a minute as one without a request', async () => {
    const metrics = await emittedMetrics(async () => expect(await settle()).toBe('done'))
    expect(metrics).toMatchObject([{ name: 'Events', dimensions: { outcome: 'settled_without_request' } }])
    expect(await holdingsOf(userId)).toEqual({ BTC: '10 0 0 0', USDT: '6 0 0 4' })
  })

  it('leaves a later request without effect', async () => {
    await settle()
    expect(await deliver(withdrawalUpdated, { ...request, status: 'requested' })).toBe('done')
    expect(await holdingsOf(userId)).toEqual({ BTC: '10 0 0 0', USDT: '6 0 0 4' })
  })
})

it('a settlement without a request is refused after a minute if the balance lacks the amount', async () => {
  const settled = { ...request, amount: '11', status: 'settled' }
  expect(await deliverLast(withdrawalUpdated, settled)).toEqual(refusedAs('insufficient_balance'))
  expect(await holdingsOf(userId)).toEqual({ BTC: '10 0 0 0', USDT: '10 0 0 0' })
})

it('a settlement whose id differs from the request’s in its case leaves what was requested on hold', async () => {
  const id = randomUUID()
  await deliver(withdrawalUpdated, { ...request, withdrawal_id: `Wd-${id}`, status: 'requested' })
  const settled = { ...request, withdrawal_id: `wd-${id}`, status: 'settled' }
  expect(await deliver(withdrawalUpdated, settled)).toBe('retry')
  expect(await holdingsOf(userId)).toEqual({ BTC: '10 0 0 0', USDT: '6 4 0 0' })
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
  'an update of a withdrawal from %s to %s is refused without a change of the wallet',
  async (first, later) => {
    const other = { ...request, withdrawal_id: randomUUID(), status: 'requested' }
    for (const update of [other, { ...request, status: 'requested' }, { ...request, status: first }])
      expect(await deliver(withdrawalUpdated, update)).toBe('done')
    const before = await holdingsOf(userId)
    expect(await deliver(withdrawalUpdated, { ...request, at: 1_700_000_000_002, status: later })).toEqual(
      refusedAs('contradicts_final_status'),
    )
    expect(await holdingsOf(userId)).toEqual(before)
  },
)

it.each(['settled', 'cancelled'])(
  'a withdrawal that is %s stays so if a late request or the same status comes again',
  async (status) => {
    for (const each of ['requested', status]) await deliver(withdrawalUpdated, { ...request, status: each })
    const before = await holdingsOf(userId)
    for (const each of ['requested', status])
      expect(await deliver(withdrawalUpdated, { ...request, status: each })).toBe('done')
    expect(await holdingsOf(userId)).toEqual(before)
  },
)

it('a withdrawal is refused when requested if its settlement would exceed the digits of the total', async () => {
  const whole = '99999999999999999999'
  const eth = { ...request, currency: 'ETH' }
  for (const each of [
    { ...eth, amount: whole, status: 'requested' },
    { ...eth, amount: whole, status: 'settled' },
  ]) {
    await deliver(walletAdjusted, adjustment(userId, { currency: 'ETH', amount: whole }))
    expect(await deliver(withdrawalUpdated, each)).toBe('done')
  }
  const more = { ...eth, withdrawal_id: randomUUID(), amount: '1.000000000000000001', status: 'requested' }
  expect(await deliverLast(withdrawalUpdated, more)).toEqual(refusedAs('balance_too_large'))
  expect(await holdingsOf(userId)).toMatchObject({ ETH: `${whole} 0 0 ${whole}` })
})

it('a withdrawal update that is refused because of a concurrent update is tried again', async () => {
  const send = (status: string) => deliver(withdrawalUpdated, { ...request, amount: '10', status })
  const faster = () => send('requested')
  expect(await actWhile('is answered', 'GetCommand', faster, () => send('settled'))).toBe('done')
  expect(await holdingsOf(userId)).toEqual({ BTC: '10 0 0 0', USDT: '0 0 0 10' })
})

it.each([
  ['states no amount', {}, { settled_amount: '4.0' }],
  ['states the default amount', { settled_amount: '4' }, {}],
  ['states a fee', { fee: '0.25' }, { fee: '0.250', settled_amount: '3.75' }],
])('a settlement that %s has no effect again if it is told the other way', async (_what, one, other) => {
  await deliver(withdrawalUpdated, { ...request, status: 'requested' })
  const settled = { ...request, status: 'settled' }
  expect(await applyEvent(withdrawalUpdated, { ...settled, ...one })).toBe('applied')
  expect(await applyEvent(withdrawalUpdated, { ...settled, ...other })).toBe('duplicate')
})

it('a request after the end of its withdrawal is overtaken', async () => {
  const send = (status: string) => applyEvent(withdrawalUpdated, { ...request, status })
  expect(await send('cancelled')).toBe('applied')
  expect(await send('requested')).toBe('overtaken')
})
