import { beforeAll, expect, it, vi } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as walletTransferred } from '../../../functions/intake/wallet.transferred.ts'
import { addDays, dayOf, endOfDay, startOfDay } from '../../../shared/dates.ts'
import type { Bill } from '../../../shared/ledger/bill.ts'
import { type BillsQuery, exportBills, selectBills } from '../../../shared/ledger/find-bills.ts'
import { billTypes } from '../../../shared/ledger/bill-types.ts'
import { deliver } from '../../support/deliver.ts'
import { addUser, adjustment, readAllBills, readPage } from '../../support/ledger.ts'
import { actWhile } from '../../support/tamper-calls.ts'

const start = Date.parse('2026-03-01T12:00:00Z')
/** Number of bills: enough for two chunks (64 bills each) of the bill index, and two blocks of some lists. */
const count = 150
const days = ['2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04', '2026-03-09']

/** Posts bills of several days, currencies and types, under a fake clock. */
async function makeHistory(): Promise<number> {
  vi.useFakeTimers({ toFake: ['Date'], now: start })
  const userId = await addUser()
  for (let i = 0; i < count; i += 1) {
    vi.setSystemTime(start + i * 31 * 60_000)
    const currency = ['USDT', 'BTC', 'ETH'][i % 3] as string
    if (i % 7 === 6) {
      const transfer = { transfer_id: `${userId}-${i}`, user_id: userId, currency, amount: '0.5', at: start }
      await deliver(walletTransferred, { ...transfer, from: 'asset', to: 'reward' })
    } else {
      await deliver(
        walletAdjusted,
        adjustment(userId, { currency, amount: i < 6 ? '50' : '1', direction: i > 5 && i % 4 === 3 ? 2 : 1 }),
      )
    }
  }
  vi.useRealTimers()
  return userId
}

/** The bills that a query should find, computed by comparing every bill with the query. */
const filterBills = (bills: Bill[], query: Partial<BillsQuery>): Bill[] =>
  bills.filter(
    (bill) =>
      (query.currency === undefined || bill.currency === query.currency) &&
      (query.amountDirection === undefined || bill.amount_direction === query.amountDirection) &&
      (query.businessId === undefined || bill.business_id === query.businessId) &&
      (query.beginTime === undefined || bill.created_at >= startOfDay(query.beginTime)) &&
      (query.endTime === undefined || bill.created_at < endOfDay(query.endTime)),
  )

const optional = <T>(values: T[]): (T | undefined)[] => [undefined, ...values]

const strip = (query: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as Partial<BillsQuery>

const combinations: Partial<BillsQuery>[] = optional(['USDT', 'BTC', 'DOGE']).flatMap((currency) =>
  optional([1, 2] as const).flatMap((amountDirection) =>
    optional(['ADJUSTMENT_CREDIT', 'TRANSFER_OUT', 'DEPOSIT', 'NOTHING_KNOWN']).flatMap((businessId) =>
      [
        {},
        { beginTime: days[2] },
        { endTime: days[1] },
        { beginTime: days[1], endTime: days[2] },
        { beginTime: days[5] },
        { endTime: days[0] },
        { beginTime: '1095-09-01' },
        { endTime: '1095-09-01' },
      ].map((period) => strip({ currency, amountDirection, businessId, ...period })),
    ),
  ),
)

let userId: number
let all: Bill[]

beforeAll(async () => {
  userId = await makeHistory()
  all = await readAllBills(userId, 'asset')
})
it('bills of several days are listed completely, newest first', () => {
  expect(all.length).toBe(count)
  expect(all.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, i) => `A${userId}-${count - i}`))
  expect(new Set(all.map(({ created_at }) => dayOf(created_at)))).toEqual(
    new Set(Array.from({ length: 4 }, (_, i) => addDays('2026-03-01', i))),
  )
  expect(new Set(all.map(({ business_id }) => business_id))).toEqual(
    new Set(['ADJUSTMENT_CREDIT', 'ADJUSTMENT_DEBIT', 'TRANSFER_OUT']),
  )
  for (const bill of all) expect(bill.amount_direction).toBe(billTypes[bill.business_id].direction)
})

it('an export has the right bills and total for every combination of filters and dates', async () => {
  for (const query of combinations) {
    const expected = filterBills(all, query)
    const found = await exportBills(await selectBills(query, { userId, wallet: 'asset' }))
    expect(found, JSON.stringify(query)).toEqual({ total: expected.length, records: expected })
  }
})

it('a page has the right bills and totals for every combination of filters and dates', async () => {
  expect(combinations.length).toBe(480)
  for (const [i, query] of combinations.entries()) {
    const expected = filterBills(all, query)
    // Reads one page for each query. The page number varies: from the first page to two pages after the last.
    const current = 1 + (i % (Math.ceil(expected.length / 7) + 2))
    const page = await readPage(userId, 'asset', { ...query, current, size: 7 })
    const found = [page.records, page.total, page.pages]
    expect(found, JSON.stringify({ ...query, current })).toEqual([
      expected.slice((current - 1) * 7, current * 7),
      expected.length,
      Math.ceil(expected.length / 7),
    ])
  }
}, 60_000)

it('bills of the asset wallet do not appear in the reward wallet', async () => {
  const bills = await readAllBills(userId, 'reward')
  expect(bills.length).toBe(all.filter(({ business_id }) => business_id === 'TRANSFER_OUT').length)
  expect(new Set(bills.map(({ business_id }) => business_id))).toEqual(new Set(['TRANSFER_IN']))
})

// These bills complete a chunk of the bill index.
it('a page of bills leaves out bills that are posted while it is read', async () => {
  const other = await addUser()
  const [day = ''] = days.slice(-1)
  const post = async (from: number, to: number) => {
    for (let i = from; i < to; i += 1) {
      vi.useFakeTimers({ toFake: ['Date'], now: endOfDay(day) + i - 63 })
      await deliver(walletAdjusted, adjustment(other))
    }
    vi.useRealTimers()
  }
  await post(0, 60)
  const read = () => readPage(other, 'asset', { currency: 'USDT', endTime: day })
  const before = await read()
  expect(await actWhile('is sent', 'QueryCommand', () => post(60, 70), read)).toEqual(before)
})
