import { beforeAll, expect, it } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as withdrawalUpdated } from '../../../functions/intake/withdrawal.updated.ts'
import { handler } from '../../../functions/withdrawal/records.ts'
import { callAs, refusalOf, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { deliver } from '../../support/deliver.ts'
import { addUser, adjustment } from '../../support/ledger.ts'

const call = callAs(handler, 'account.read')

let owner: number

beforeAll(async () => {
  owner = await addUser()
  const request = {
    user_id: owner,
    amount: '0.100000000000000001',
    status: 'requested',
    at: 1_700_000_000_000,
  }
  for (const currency of ['USDT', 'BTC']) {
    await deliver(walletAdjusted, adjustment(owner, { currency, amount: '5' }))
    await deliver(withdrawalUpdated, { ...request, currency, withdrawal_id: `${currency}-${owner}` })
  }
  await deliver(withdrawalUpdated, { ...request, currency: 'USDT', withdrawal_id: `last-${owner}` })
})

it('withdrawal/records lists the caller’s withdrawals, newest first, with all digits', async () => {
  const { status, code, data, text } = await call(owner, { query: 'current=1&size=2' })
  expect([status, code]).toEqual([200, 0])
  expect(data).toMatchObject({
    records: [{ id: `last-${owner}`, status: 'REQUESTED' }, { id: `BTC-${owner}` }],
    ...{ total: 3, size: 2, current: 1, pages: 2 },
  })
  expect(text).toContain('"amount":0.100000000000000001,')
})

it('withdrawal/records shows a withdrawal as it stands now', async () => {
  const change = { user_id: owner, amount: '0.100000000000000001', at: 1_700_000_000_001 }
  const id = `BTC-${owner}`
  await deliver(withdrawalUpdated, { ...change, withdrawal_id: id, currency: 'BTC', status: 'cancelled' })
  const { data } = await call(owner, { query: 'current=1&size=20&currency=btc' })
  expect(data).toMatchObject({ records: [{ id, status: 'CANCELLED' }], total: 1 })
})

it.each([
  ['currency=usdt', 2],
  ['currency=ETH', 0],
  ['currency=%2A', 0],
  ['beginTime=2026-01-01&endTime=2999-01-01', 3],
  ['beginTime=2999-01-01', 0],
  ['endTime=1970-01-01', 0],
])('withdrawal/records?%s finds %i of three withdrawals', async (filter, total) => {
  const { data } = await call(owner, { query: `current=1&size=20&${filter}` })
  expect(data).toMatchObject({ total })
  expect((data as { records: object[] }).records).toHaveLength(total)
})

it('withdrawal/records is empty for another user, whatever id the query names', async () => {
  const { data } = await call(await addUser(), { query: `current=1&size=20&user_id=${owner}` })
  expect(data).toEqual({ records: [], total: 0, size: 20, current: 1, pages: 0 })
})

it.each([
  ['size=20', 'current'],
  ['current=1', 'size'],
  ['current=0&size=20', 'current'],
  ['current=1&size=21', 'size'],
  ['current=1&size=20&endTime=2026-02-30', 'endTime'],
  ['current=1&size=20&beginTime=2026-02-02&endTime=2026-02-01', 'endTime'],
])('withdrawal/records?%s is refused because of %s', async (query, parameter) => {
  expect(await call(owner, { query })).toMatchObject(refusalOf(parameter))
})

it('withdrawal/records refuses a token without account.read', async () => {
  const scopes = scopesWithout('account.read')
  expect(await call(owner, { query: 'current=1&size=20', scopes })).toMatchObject(scopeRefusal)
})
