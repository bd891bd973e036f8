import { beforeAll, expect, it } from 'vitest'
import { handler } from '../../../functions/deposit/records.ts'
import { handler as depositUpdated } from '../../../functions/intake/deposit.updated.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { callAs, refusalOf, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { addDepositor, deposit } from '../../support/deposits.ts'
import { addUser } from '../../support/ledger.ts'

const call = callAs(handler, 'deposit.read')

let owner: number

beforeAll(async () => {
  const { userId, address } = await addDepositor()
  owner = userId
  for (const name of ['first', 'second', 'third'])
    await applyEvent(
      depositUpdated,
      deposit(address, { txid: `${name}-${owner}`, amount: '0.100000000000000001' }),
    )
})

it('deposit/records lists the caller’s deposits, newest first, with all digits', async () => {
  const { status, code, data, text } = await call(owner, { query: 'current=1&size=2' })
  expect([status, code]).toEqual([200, 0])
  expect(data).toMatchObject({
    records: [
      { txid: `third-${owner}`, status: 'CREDITED' },
      { txid: `second-${owner}`, status: 'CREDITED' },
    ],
    ...{ total: 3, size: 2, current: 1, pages: 2 },
  })
  expect(text).toContain('"amount":0.100000000000000001,')
})

it.each([
  ['currency=usdt', 3],
  ['currency=BTC', 0],
  ['currency=%2A', 0],
  ['beginTime=2026-01-01&endTime=2999-01-01', 3],
  ['beginTime=2999-01-01', 0],
  ['endTime=1970-01-01', 0],
])('deposit/records?%s finds %i of three deposits', async (filter, total) => {
  const { data } = await call(owner, { query: `current=1&size=20&${filter}` })
  expect(data).toMatchObject({ total })
  expect((data as { records: object[] }).records).toHaveLength(total)
})

it('deposit/records is empty for another user, whatever id the query names', async () => {
  const { data } = await call(await addUser(), { query: `current=1&size=20&user_id=${owner}` })
  expect(data).toEqual({ records: [], total: 0, size: 20, current: 1, pages: 0 })
})

it.each([
  ['size=20', 'current'],
  ['current=1', 'size'],
  ['current=0&size=20', 'current'],
  ['current=1&size=21', 'size'],
  ['current=1&size=20&beginTime=2026-02-30', 'beginTime'],
  ['current=1&size=20&beginTime=2026-02-02&endTime=2026-02-01', 'endTime'],
])('deposit/records?%s is refused because of %s', async (query, parameter) => {
  expect(await call(owner, { query })).toMatchObject(refusalOf(parameter))
})

it('deposit/records refuses a token without deposit.read', async () => {
  const scopes = scopesWithout('deposit.read')
  expect(await call(owner, { query: 'current=1&size=20', scopes })).toMatchObject(scopeRefusal)
})
