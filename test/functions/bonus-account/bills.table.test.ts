import { beforeAll, expect, it } from 'vitest'
import { handler } from '../../../functions/bonus-account/bills.ts'
import { handler as rewardGranted } from '../../../functions/intake/reward.granted.ts'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { callAs, refusalOf, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { addUser, adjustment } from '../../support/ledger.ts'

const call = callAs(handler, 'account.read')

let owner: number

beforeAll(async () => {
  owner = await addUser()
  const reward = { user_id: owner, reward_type: 'NODE', currency: 'USDT', earned_on: '2026-01-02' }
  await applyEvent(rewardGranted, { ...reward, reward_id: `r-${owner}`, amount: '0.100000000000000001' })
  await applyEvent(walletAdjusted, adjustment(owner, { wallet: 'reward', currency: 'BTC' }))
  await applyEvent(walletAdjusted, adjustment(owner))
})

it('bonus-account/bills lists the bills of the reward wallet, newest first, with all digits', async () => {
  const { status, code, data, text } = await call(owner, { query: 'current=1&size=20' })
  expect([status, code]).toEqual([200, 0])
  expect(data).toMatchObject({
    records: [
      { id: `R${owner}-2`, currency: 'BTC', business_id: 'ADJUSTMENT_CREDIT' },
      { id: `R${owner}-1`, currency: 'USDT', business_id: 'REWARD', reference: `r-${owner}`, remark: null },
    ],
    ...{ total: 2, size: 20, current: 1, pages: 1 },
  })
  expect(text).toContain('"amount":0.100000000000000001,')
})

it.each([
  ['currency=btc', 1],
  ['businessId=REWARD', 1],
  ['businessId=DEPOSIT', 0],
  ['amountDirection=2', 0],
  ['endTime=2026-01-02', 0],
])('bonus-account/bills?%s finds %i of two bills', async (filter, total) => {
  expect((await call(owner, { query: `current=1&size=20&${filter}` })).data).toMatchObject({ total })
})

it('bonus-account/bills is empty for another user, whatever id the query names', async () => {
  const { data } = await call(await addUser(), { query: `current=1&size=20&user_id=${owner}` })
  expect(data).toEqual({ records: [], total: 0, size: 20, current: 1, pages: 0 })
})

it.each([
  ['size=20', 'current'],
  ['current=1&size=21', 'size'],
  ['current=1&size=20&amountDirection=credit', 'amountDirection'],
  ['current=1&size=20&beginTime=2026-02-02&endTime=2026-02-01', 'endTime'],
])('bonus-account/bills?%s is refused because of %s', async (query, parameter) => {
  expect(await call(owner, { query })).toMatchObject(refusalOf(parameter))
})

it('bonus-account/bills refuses a token without account.read', async () => {
  const query = 'current=1&size=20'
  expect(await call(owner, { query, scopes: scopesWithout('account.read') })).toMatchObject(scopeRefusal)
})
