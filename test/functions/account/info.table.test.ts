import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { handler } from '../../../functions/account/info.ts'
import { handler as depositUpdated } from '../../../functions/intake/deposit.updated.ts'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as withdrawalUpdated } from '../../../functions/intake/withdrawal.updated.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { callAs, refusalOf, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { addDepositor, deposit } from '../../support/deposits.ts'
import { addUser, adjustment } from '../../support/ledger.ts'

const call = callAs(handler, 'account.read')
const huge = '99999999999999999999.999999999999999999'

let owner: number

beforeAll(async () => {
  const { userId, address } = await addDepositor()
  owner = userId
  await applyEvent(depositUpdated, deposit(address, { amount: '7.25' }))
  await applyEvent(walletAdjusted, adjustment(owner, { currency: 'BIG', amount: huge }))
  await applyEvent(walletAdjusted, adjustment(owner, { currency: 'BONUS', wallet: 'reward' }))
  const request = { user_id: owner, currency: 'USDT', status: 'requested', at: 1_700_000_000_000 }
  const paid = { ...request, withdrawal_id: randomUUID(), amount: '2.25' }
  await applyEvent(withdrawalUpdated, paid)
  await applyEvent(withdrawalUpdated, { ...paid, status: 'settled', fee: '0.25' })
  await applyEvent(withdrawalUpdated, { ...request, withdrawal_id: randomUUID(), amount: '1' })
})

it('account/info lists the currencies of the asset wallet in alphabetical order, with all digits', async () => {
  const { status, code, text } = await call(owner)
  expect([status, code]).toEqual([200, 0])
  expect(text).toContain(
    '"data":[' +
      `{"currency":"BIG","balance":${huge},"hold":0,"deposited":0,"withdrawal":0},` +
      '{"currency":"USDT","balance":4,"hold":1,"deposited":7.25,"withdrawal":2}]',
  )
})

it.each([
  ['currency=USDT', ['USDT']],
  ['currency=uSdT', ['USDT']],
  ['currency=none', []],
  ['currency=BONUS', []],
  ['currency=', ['BIG', 'USDT']],
])('account/info?%s lists only %j', async (query, currencies) => {
  const { data } = await call(owner, { query })
  expect((data as { currency: string }[]).map(({ currency }) => currency)).toEqual(currencies)
})

it('account/info is empty for another user, whatever id the query names', async () => {
  expect((await call(await addUser(), { query: `user_id=${owner}` })).data).toEqual([])
})

it('account/info refuses a repeated currency', async () => {
  expect(await call(owner, { query: 'currency=USDT&currency=BIG' })).toMatchObject(refusalOf('currency'))
})

it('account/info refuses a token without account.read', async () => {
  expect(await call(owner, { scopes: scopesWithout('account.read') })).toMatchObject(scopeRefusal)
})
