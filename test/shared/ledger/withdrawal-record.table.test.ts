import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as withdrawalUpdated } from '../../../functions/intake/withdrawal.updated.ts'
import { dayOf, endOfDay, startOfDay } from '../../../shared/dates.ts'
import { rowKey } from '../../../shared/db/numbered-list.ts'
import { writeItem } from '../../../shared/db/write.ts'
import {
  readWithdrawalOf,
  readWithdrawalsPage,
  type WithdrawalRecord,
  type WithdrawalsQuery,
} from '../../../shared/ledger/withdrawal-record.ts'
import { verifyWallet } from '../../../shared/ledger/verify/wallet.ts'
import { stringifyExact } from '../../../shared/stringify-exact.ts'
import { contextWith, deliver, deliverLast, interceptQueues, refusedAs } from '../../support/deliver.ts'
import { addUser, adjustment, holdingsOf, readAllBills } from '../../support/ledger.ts'
import { toSqsEvent } from '../../support/sqs-event.ts'
import { tamperCalls } from '../../support/tamper-calls.ts'

const at = 1_788_000_000_000

async function addOwner(amount = '1000'): Promise<number> {
  const userId = await addUser()
  for (const currency of ['USDT', 'BTC'])
    await deliver(walletAdjusted, adjustment(userId, { currency, amount }))
  return userId
}

const newRequest = (userId: number, changes: object = {}) => ({
  withdrawal_id: randomUUID(),
  user_id: userId,
  currency: 'USDT',
  amount: '10',
  status: 'requested',
  at,
  ...changes,
})

const pageOf = (userId: number, query: Partial<WithdrawalsQuery> = {}) =>
  readWithdrawalsPage({ current: 1, size: 20, ...query }, userId)

/** A withdrawal as its owner sees it, with its amounts as numbers of JSON. */
const show = (record: WithdrawalRecord | undefined): unknown => JSON.parse(stringifyExact(record))

describe('a withdrawal', () => {
  let userId: number
  let request: ReturnType<typeof newRequest>
  const requested = () => ({
    ...{ id: request.withdrawal_id, currency: 'USDT', amount: 10, status: 'REQUESTED' },
    ...{ created_at: expect.any(Number) as number, occurred_at: at },
    ...{ settled_at: null, settled_amount: null, fee: null },
  })
  const settled = () => ({
    ...requested(),
    ...{ status: 'SETTLED', settled_at: expect.any(Number) as number, settled_amount: 9.5, fee: 0.5 },
  })
  const settle = () => deliver(withdrawalUpdated, { ...request, status: 'settled', at: at + 1, fee: '0.5' })

  beforeEach(async () => {
    userId = await addOwner()
    request = newRequest(userId)
    expect(await deliver(withdrawalUpdated, request)).toBe('done')
  })

  it('is shown from its request on', async () => {
    expect(show(await readWithdrawalOf(userId, request.withdrawal_id))).toEqual(requested())
  })

  it('is shown with what was settled', async () => {
    await settle()
    expect(show(await readWithdrawalOf(userId, request.withdrawal_id))).toEqual(settled())
  })

  it('is listed as it is shown', async () => {
    await settle()
    expect((await pageOf(userId)).records.map(show)).toEqual([settled()])
  })

  it('is not shown to another user', async () => {
    expect(await readWithdrawalOf(await addUser(), request.withdrawal_id)).toBeUndefined()
  })
})

describe('a settlement', () => {
  const settle = async (changes: object, isLate = false) => {
    const userId = await addOwner()
    const request = newRequest(userId)
    if (!isLate) await deliver(withdrawalUpdated, request)
    const detail = { ...request, status: 'settled', ...changes }
    const result = await (isLate ? deliverLast : deliver)(withdrawalUpdated, detail)
    const bills = (await readAllBills(userId, 'asset', { currency: 'USDT' })).slice(0, -1)
    return {
      result,
      holdings: (await holdingsOf(userId))['USDT'],
      bills: bills.map(
        (bill) => `${bill.business_id} ${bill.amount.toFixed()} ${bill.balance_after.toFixed()}`,
      ),
      differences: (await verifyWallet({ userId, wallet: 'asset' })).differences,
    }
  }

  it.each([
    ['the whole amount', {}, '990 0 0 10', ['WITHDRAWAL 10 990']],
    ['a fee', { fee: '0.5' }, '990 0 0 9.5', ['WITHDRAWAL_FEE 0.5 990', 'WITHDRAWAL 9.5 990.5']],
    ['less than the amount', { settled_amount: '4' }, '996 0 0 4', ['WITHDRAWAL 4 996']],
    [
      'less than the amount and a fee',
      { settled_amount: '4', fee: '0.000000000000000001' },
      '995.999999999999999999 0 0 4',
      ['WITHDRAWAL_FEE 0.000000000000000001 995.999999999999999999', 'WITHDRAWAL 4 996'],
    ],
  ])(
    'of %s debits what was settled and the fee, and gives the rest back',
    async (_what, changes, holdings, bills) => {
      for (const isLate of [false, true])
        expect(await settle(changes, isLate)).toEqual({ result: 'done', holdings, bills, differences: [] })
    },
  )

  it.each([
    ['a fee as high as the amount', { fee: '10' }],
    ['more than the amount', { settled_amount: '10.1' }],
    ['amount and fee over the amount', { settled_amount: '9.5', fee: '0.51' }],
    ['no fee in digits', { fee: 'none' }],
    ['a fee of nothing', { fee: '0' }],
    ['a fee of a request', { status: 'requested', fee: '1' }],
    ['a settled amount of a cancellation', { status: 'cancelled', settled_amount: '1' }],
  ])('with %s is refused and changes nothing', async (_what, changes) => {
    const { result, holdings } = await settle(changes)
    expect(result).toEqual(refusedAs('invalid_detail'))
    expect(holdings).toBe('990 10 0 0')
  })

  it('that is sent again with another fee is refused', async () => {
    const userId = await addOwner()
    const settled = { ...newRequest(userId), status: 'settled', fee: '1' }
    await deliver(withdrawalUpdated, { ...settled, status: 'requested', fee: undefined })
    expect(await deliver(withdrawalUpdated, settled)).toBe('done')
    expect(await deliver(withdrawalUpdated, { ...settled, fee: '2' })).toEqual(
      refusedAs('conflicting_content'),
    )
    expect(await deliver(withdrawalUpdated, { ...settled, fee: '1.0', settled_amount: null })).toBe('done')
  })
})

describe('a withdrawal that was cancelled before its request', () => {
  async function cancelEarly() {
    const userId = await addUser()
    const request = newRequest(userId)
    expect(await deliver(withdrawalUpdated, { ...request, status: 'cancelled' })).toBe('done')
    expect(await deliver(withdrawalUpdated, request)).toBe('done')
    return { userId, id: request.withdrawal_id }
  }

  it('is listed as cancelled', async () => {
    const { userId, id } = await cancelEarly()
    expect((await pageOf(userId)).records).toMatchObject([{ id, status: 'CANCELLED' }])
  })

  it('holds nothing', async () => {
    const { userId } = await cancelEarly()
    expect(await holdingsOf(userId)).toEqual({})
  })
})

it('pages of withdrawals are right for every filter', async () => {
  const start = Date.parse('2026-03-01T12:00:00Z')
  vi.useFakeTimers({ toFake: ['Date'], now: start })
  const userId = await addOwner()
  for (let i = 0; i < 70; i += 1) {
    vi.setSystemTime(start + i * 3_600_000)
    const request = newRequest(userId, { currency: i % 3 === 0 ? 'BTC' : 'USDT', amount: '1', at: start })
    await deliver(withdrawalUpdated, request)
  }
  vi.useRealTimers()
  const all: WithdrawalRecord[] = []
  for (let current = 1; current <= 4; current += 1) all.push(...(await pageOf(userId, { current })).records)
  expect(all).toHaveLength(70)
  const days = [undefined, '2026-02-28', '2026-03-01', '2026-03-02', '2026-03-04', '2026-03-09']
  for (const currency of [undefined, 'BTC', 'USDT', 'DOGE', '*'])
    for (const beginTime of days)
      for (const endTime of days) {
        const query = {
          ...(currency && { currency }),
          ...(beginTime && { beginTime }),
          ...(endTime && { endTime }),
        }
        const expected = all.filter(
          (one) =>
            (currency === undefined || one.currency === currency) &&
            (beginTime === undefined || one.created_at >= startOfDay(beginTime)) &&
            (endTime === undefined || one.created_at < endOfDay(endTime)),
        )
        const { total, records } = await pageOf(userId, { ...query, current: 2, size: 7 })
        expect({ total, records }, JSON.stringify(query)).toEqual({
          total: expected.length,
          records: expected.slice(7, 14),
        })
      }
  expect(new Set(all.map(({ created_at }) => dayOf(created_at))).size).toBe(4)
})

it('a withdrawal whose function died before it was listed is listed when its event is delivered again', async () => {
  const userId = await addOwner()
  const request = newRequest(userId)
  const envelope = { id: randomUUID(), 'detail-type': 'withdrawal.updated', detail: request }
  const event = toSqsEvent([{ body: JSON.stringify(envelope) }])
  interceptQueues()
  const handle = () => withdrawalUpdated(event, contextWith(30_000))
  expect(await handle()).toEqual({ batchItemFailures: [] })
  for (const list of [`WL#${userId}#*`, `WL#${userId}#USDT`])
    await writeItem({ Delete: { Key: rowKey(list, 1) } })
  expect((await pageOf(userId)).records).toEqual([])
  expect(await handle()).toEqual({ batchItemFailures: [] })
  expect((await pageOf(userId)).records).toMatchObject([{ id: request.withdrawal_id }])
  expect((await pageOf(userId, { currency: 'USDT' })).records).toHaveLength(1)
})

it('an event that cannot list its withdrawal is delivered again', async () => {
  const request = newRequest(await addOwner())
  const { restore } = tamperCalls(({ name, perform }) =>
    name === 'PutCommand' ? Promise.reject(new Error('the row is refused')) : perform(),
  )
  try {
    expect(await deliver(withdrawalUpdated, request)).toBe('retry')
  } finally {
    restore()
  }
})
