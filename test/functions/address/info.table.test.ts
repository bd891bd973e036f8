import { expect, it } from 'vitest'
import { handler } from '../../../functions/address/info.ts'
import { handler as addressesProvisioned } from '../../../functions/intake/addresses.provisioned.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { callAs, refusalOf, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { newPool, provision } from '../../support/deposits.ts'
import { addUser } from '../../support/ledger.ts'

const call = callAs(handler, 'deposit.read')

/** Provisions addresses in a new pool. Returns the query that asks for one of them. */
async function addPool(addresses: { address: string; tag?: string }[]) {
  const pool = newPool()
  await applyEvent(addressesProvisioned, provision(pool, 0, { addresses }))
  return { pool, query: `currency=${pool.currency}&currencyNetWork=${pool.network}` }
}

it('address/info assigns an address with its tag at the first request', async () => {
  const { pool, query } = await addPool([{ address: '0xaa', tag: '7' }])
  const { status, code, data } = await call(await addUser(), { query })
  expect([status, code]).toEqual([200, 0])
  expect(data).toEqual({
    currency: 'USDT',
    currency_network: pool.network,
    address: '0xaa',
    tag: '7',
    required_confirmations: 12,
    created_at: expect.any(Number) as number,
  })
})

it('address/info returns the same address ever after, in any case of its parameters', async () => {
  const { query } = await addPool([{ address: '0xaa' }, { address: '0xbb' }])
  const userId = await addUser()
  const first = await call(userId, { query })
  const again = query.replace(/=([^&]+)/g, (_match, value: string) => `=${value.toLowerCase()}`)
  expect(await call(userId, { query: again })).toMatchObject({ code: 0, data: first.data })
})

it('address/info gives two users two addresses', async () => {
  const { query } = await addPool([{ address: '0xaa' }, { address: '0xbb' }])
  const answers = [await call(await addUser(), { query }), await call(await addUser(), { query })]
  const addresses = answers.map(({ data }) => (data as { address: string }).address)
  expect(new Set(addresses)).toEqual(new Set(['0xaa', '0xbb']))
})

it('address/info answers 503 with Retry-After if the pool is empty', async () => {
  const { query } = await addPool([{ address: '0xaa' }])
  await call(await addUser(), { query })
  const answer = await call(await addUser(), { query })
  expect(answer).toMatchObject({ status: 503, code: 50300, data: null })
  expect(answer.headers['retry-after']).toMatch(/^\d+$/)
})

it.each([
  ['currency=USDT', 'currencyNetWork'],
  ['currencyNetWork=TRON', 'currency'],
  ['currency=US%20DT&currencyNetWork=TRON', 'currency'],
  ['currency=USDT&currencyNetWork=TRON&currencyNetWork=ETH', 'currencyNetWork'],
])('address/info?%s is refused because of %s', async (query, parameter) => {
  expect(await call(await addUser(), { query })).toMatchObject(refusalOf(parameter))
})

it.each([
  ['a network that has no addresses', 'currency=USDT&currencyNetWork=NOWHERE'],
  ['a currency that has no addresses', 'currency=NONE&currencyNetWork=NOWHERE'],
])('address/info refuses %s', async (_what, query) => {
  expect(await call(await addUser(), { query })).toMatchObject({ status: 400, code: 40001 })
})

it('address/info refuses a token without deposit.read', async () => {
  const { query } = await addPool([{ address: '0xaa' }])
  const scopes = scopesWithout('deposit.read')
  expect(await call(await addUser(), { query, scopes })).toMatchObject(scopeRefusal)
})
