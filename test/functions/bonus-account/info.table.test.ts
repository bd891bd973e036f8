import { beforeAll, expect, it } from 'vitest'
import { handler } from '../../../functions/bonus-account/info.ts'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { callAs, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { addUser, adjustment } from '../../support/ledger.ts'

const call = callAs(handler, 'account.read')

let owner: number

beforeAll(async () => {
  owner = await addUser()
  const reward = { wallet: 'reward', amount: '0.100000000000000001' }
  await applyEvent(walletAdjusted, adjustment(owner, reward))
  await applyEvent(walletAdjusted, adjustment(owner, { ...reward, currency: 'BTC' }))
  await applyEvent(walletAdjusted, adjustment(owner, { currency: 'ASSET' }))
})

it('bonus-account/info lists the currencies of the reward wallet in order, with all digits', async () => {
  const { status, code, text } = await call(owner)
  expect([status, code]).toEqual([200, 0])
  const amounts = '"balance":0.100000000000000001,"hold":0,"deposited":0,"withdrawal":0'
  expect(text).toContain(`"data":[{"currency":"BTC",${amounts}},{"currency":"USDT",${amounts}}]`)
})

it('bonus-account/info has no currency filter', async () => {
  expect((await call(owner, { query: 'currency=BTC' })).data).toHaveLength(2)
})

it('bonus-account/info is empty for another user, whatever id the query names', async () => {
  expect((await call(await addUser(), { query: `user_id=${owner}` })).data).toEqual([])
})

it('bonus-account/info refuses a token without account.read', async () => {
  expect(await call(owner, { scopes: scopesWithout('account.read') })).toMatchObject(scopeRefusal)
})
