import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { callWith, eventually } from '../support/call-stack.ts'
import { createAccessToken } from '../support/community.ts'
import { deposit, newPool, provision } from '../support/deposits.ts'
import { addUser, adjustment } from '../support/ledger.ts'
import { address } from '../support/oauth.ts'
import { patience } from '../support/quirks.ts'
import { putEvents } from '../support/put-event.ts'

const get = callWith(['account.read', 'deposit.read'])

const huge = '99999999999999999999.999999999999999999'

let owner: number
let stranger: number
let depositId: string
const pool = newPool()

beforeAll(async () => {
  owner = await addUser()
  stranger = await addUser()
  await putEvents('wallet.adjusted', [
    adjustment(owner, { currency: 'big', amount: huge }),
    adjustment(owner, { wallet: 'reward', amount: '0.100000000000000001' }),
  ])
  await putEvents('addresses.provisioned', [provision(pool, 2)])
  const assigned = await eventually(async () => {
    const query = `currency=usdt&currencyNetWork=${pool.network.toLowerCase()}`
    const { status, data } = await get(owner, `/address/info?${query}`)
    expect(status).toBe(200)
    return data as Parameters<typeof deposit>[0]
  })
  await putEvents('deposit.updated', [deposit(assigned, { txid: `tx-${owner}`, amount: '7.25' })])
  await eventually(async () => {
    const { data } = await get(owner, '/deposit/records?current=1&size=20')
    expect(data).toMatchObject({ total: 1, records: [{ status: 'CREDITED', txid: `tx-${owner}` }] })
    depositId = (data as { records: { id: string }[] }).records[0]?.id ?? ''
    expect((await get(owner, '/account/bills?current=1&size=20')).data).toMatchObject({ total: 2 })
    expect((await get(owner, '/bonus-account/bills?current=1&size=20')).data).toMatchObject({ total: 1 })
  })
}, patience(60_000))

it('amounts reach the client with all their digits', async () => {
  expect((await get(owner, '/account/info?currency=Big')).text).toContain(`"balance":${huge},`)
  expect((await get(owner, '/bonus-account/info')).text).toContain('"balance":0.100000000000000001,')
  const bills = await get(owner, '/account/bills?currency=big&current=1&size=20')
  expect(bills.text).toContain(`"amount":${huge},`)
  expect(bills.text).toContain(`"balance_after":${huge},`)
})

it('the bills of a wallet are downloaded as CSV', async () => {
  const authorization = `Bearer ${await createAccessToken(owner, ['account.read'])}`
  const csv = await fetch(address('/bonus-account/bills/export'), {
    headers: { authorization, accept: 'text/csv' },
  })
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="bonus-account-bills.csv"')
  const [head = '', line = '', ...rest] = (await csv.text()).split('\r\n')
  expect(head).toMatch(/^id,currency,amount,/)
  expect(line).toMatch(/^R\d+-1,USDT,0\.100000000000000001,1,ADJUSTMENT_CREDIT,0\.100000000000000001,/)
  expect(rest).toEqual([''])
})

it.each([
  '/account/info?currency=none',
  '/account/bills?current=1&size=20&currency=%2A',
  `/account/bills?current=1&size=20&currency=${'X'.repeat(3_000)}`,
  '/account/bills/export?businessId=DEPOSIT',
  '/account/asset',
  '/bonus-account/asset',
  '/withdrawal/records?current=1&size=20',
])('GET %.60s answers as the API reference says', async (path) => {
  expect(await get(owner, path)).toMatchObject({ status: 200, code: 0 })
})

it.each([
  ['/account/info?currency=a&currency=b', 40001],
  ['/account/bills?current=1&size=20&amountDirection=3', 40001],
  ['/account/bills/export?beginTime=2026-02-02&endTime=2026-02-01', 40001],
  ['/bonus-account/bills?size=20', 40001],
  ['/bonus-account/bills/export?beginTime=today', 40001],
  ['/deposit/records?current=0&size=20', 40001],
  ['/address/info?currency=USDT&currencyNetWork=NOWHERE', 40001],
  ['/deposit/get/nothing-of-the-kind', 40401],
  ['/withdrawal/get/%20%00', 40401],
  ['/withdrawal/records?size=20', 40001],
])('GET %s is refused with code %d, as the API reference says', async (path, code) => {
  expect((await get(owner, path)).code).toBe(code)
})

it('a deposit is shown to nobody but its owner', async () => {
  expect((await get(owner, `/deposit/get/${depositId}`)).data).toMatchObject({ id: depositId, amount: 7.25 })
  expect(await get(stranger, `/deposit/get/${depositId}`)).toMatchObject({ status: 404, code: 40401 })
})

it.each([
  ['/account/bills?current=1&size=20', 'deposit.read'],
  ['/deposit/records?current=1&size=1', 'account.read'],
] as const)('GET %s refuses a token that has only the scope %s', async (path, scope) => {
  expect((await get(owner, path, { scopes: [scope] })).code).toBe(40300)
})

it(
  'a requested withdrawal moves money to the hold, and settling it takes the money out of the hold',
  async () => {
    const userId = await addUser()
    await putEvents('wallet.adjusted', [adjustment(userId, { amount: '10' })])
    const withdrawal = {
      withdrawal_id: randomUUID(),
      user_id: userId,
      currency: 'USDT',
      amount: '4',
      at: 1_700_000_000_000,
    }
    const holds = (balance: number, hold: number, withdrawn: number) =>
      eventually(async () => {
        expect((await get(userId, '/account/info')).data).toMatchObject([
          { balance, hold, withdrawal: withdrawn },
        ])
      })
    await holds(10, 0, 0)
    await putEvents('withdrawal.updated', [{ ...withdrawal, status: 'requested' }])
    await holds(6, 4, 0)
    await putEvents('withdrawal.updated', [{ ...withdrawal, status: 'settled', fee: '0.5' }])
    await holds(6, 0, 3.5)
    const { withdrawal_id: id } = withdrawal
    const own = await get(userId, `/withdrawal/get/${id}`)
    expect(own.data).toMatchObject({ id, amount: 4, status: 'SETTLED', settled_amount: 3.5, fee: 0.5 })
    const page = await get(userId, '/withdrawal/records?current=1&size=20&currency=usdt')
    expect(page.data).toMatchObject({ total: 1, records: [own.data] })
    const bills = await get(userId, '/account/bills?current=1&size=20&businessId=WITHDRAWAL_FEE')
    expect(bills.data).toMatchObject({
      total: 1,
      records: [{ amount: 0.5, reference: id, balance_after: 6 }],
    })
  },
  patience(60_000),
)
