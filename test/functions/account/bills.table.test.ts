import { beforeAll, expect, it } from 'vitest'
import { handler } from '../../../functions/account/bills.ts'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { callAs, refusalOf, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { addUser, adjustment } from '../../support/ledger.ts'

const call = callAs(handler, 'account.read')
const huge = '99999999999999999999.999999999999999999'

let owner: number

beforeAll(async () => {
  owner = await addUser()
  const adjust = (currency: string, amount: string, changes: object = {}) =>
    applyEvent(walletAdjusted, adjustment(owner, { currency, amount, ...changes }))
  await adjust('USDT', '5')
  await adjust('USDT', '2', { direction: 2 })
  await adjust('ETH', '1', { wallet: 'reward' })
  await adjust('BIG', huge, { adjustment_id: `big-${owner}`, reason: 'a gift' })
})

it('account/bills lists the bills of the asset wallet, newest first', async () => {
  const { status, code, data } = await call(owner, { query: 'current=1&size=2' })
  expect([status, code]).toEqual([200, 0])
  expect(data).toEqual({
    records: [
      {
        id: `A${owner}-3`,
        currency: 'BIG',
        amount: Number(huge),
        amount_direction: 1,
        business_id: 'ADJUSTMENT_CREDIT',
        balance_after: Number(huge),
        reference: `big-${owner}`,
        remark: 'a gift',
        created_at: expect.any(Number) as number,
        occurred_at: 1_700_000_000_000,
      },
      expect.objectContaining({ currency: 'USDT', amount: 2, amount_direction: 2, balance_after: 3 }),
    ],
    ...{ total: 3, size: 2, current: 1, pages: 2 },
  })
})

it('account/bills returns amounts with all their digits', async () => {
  const { text } = await call(owner, { query: 'current=1&size=1' })
  expect(text).toContain(`"amount":${huge},`)
  expect(text).toContain(`"balance_after":${huge},`)
})

it.each([
  ['currency=usdt', 2],
  ['currency=usdt&amountDirection=2', 1],
  ['amountDirection=1', 2],
  ['businessId=ADJUSTMENT_DEBIT', 1],
  ['businessId=ADJUSTMENT_DEBIT&amountDirection=1', 0],
  ['businessId=nothing', 0],
  ['currency=ETH', 0],
  ['currency=%2A', 0],
  [`currency=${'X'.repeat(3_000)}`, 0],
  ['beginTime=2026-01-01&endTime=2999-01-01', 3],
  ['beginTime=2999-01-01', 0],
  ['endTime=1970-01-01', 0],
])('account/bills?%.50s finds %i of three bills', async (filter, total) => {
  const { data } = await call(owner, { query: `current=1&size=20&${filter}` })
  expect(data).toMatchObject({ total, pages: Math.ceil(total / 20) })
  expect((data as { records: object[] }).records).toHaveLength(total)
})

it('a page of account/bills past the last has no records, but the true total', async () => {
  const { data } = await call(owner, { query: 'current=2147483647&size=20' })
  expect(data).toEqual({ records: [], total: 3, size: 20, current: 2_147_483_647, pages: 1 })
})

it('account/bills is empty for another user, whatever id the query names', async () => {
  const { data } = await call(await addUser(), { query: `current=1&size=20&user_id=${owner}` })
  expect(data).toEqual({ records: [], total: 0, size: 20, current: 1, pages: 0 })
})

it.each([
  ['size=20', 'current'],
  ['current=0&size=20', 'current'],
  ['current=1.5&size=20', 'current'],
  ['current=2147483648&size=20', 'current'],
  ['current=1&current=2&size=20', 'current'],
  ['current=1', 'size'],
  ['current=1&size=0', 'size'],
  ['current=1&size=21', 'size'],
  ['current=1&size=ten', 'size'],
  ['current=1&size=20&amountDirection=3', 'amountDirection'],
  ['current=1&size=20&beginTime=2026-02-30', 'beginTime'],
  ['current=1&size=20&endTime=tomorrow', 'endTime'],
  ['current=1&size=20&beginTime=2026-02-02&endTime=2026-02-01', 'endTime'],
])('account/bills?%s is refused because of %s', async (query, parameter) => {
  expect(await call(owner, { query })).toMatchObject(refusalOf(parameter))
})

it('account/bills refuses a token without account.read', async () => {
  const query = 'current=1&size=20'
  expect(await call(owner, { query, scopes: scopesWithout('account.read') })).toMatchObject(scopeRefusal)
})
