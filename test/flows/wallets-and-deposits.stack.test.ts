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

it('the wallet endpoints return amounts with all their digits', async () => {
  expect((await get(owner, '/account/info?currency=Big')).text).toContain(`"balance":${huge},`)
  expect((await get(owner, '/bonus-account/info')).text).toContain('"balance":0.100000000000000001,')
  const bills = await get(owner, '/account/bills?currency=big&current=1&size=20')
  expect(bills.text).toContain(`"amount":${huge},`)
  expect(bills.text).toContain(`"balance_after":${huge},`)
})

it('the bills of each wallet are exported as JSON and as CSV, with all their digits', async () => {
  const { text, data } = await get(owner, '/account/bills/export')
  expect(data).toMatchObject({ total: 2, cap: 10_000, truncated: false })
  expect(text).toContain(`"amount":${huge},`)
  const filtered = await get(owner, '/account/bills/export?currency=usdt&businessId=DEPOSIT')
  expect(filtered.data).toMatchObject({ total: 1, records: [{ amount: 7.25, business_id: 'DEPOSIT' }] })
  const authorization = `Bearer ${await createAccessToken(owner, ['account.read'])}`
  const csv = await fetch(address('/bonus-account/bills/export'), {
    headers: { authorization, accept: 'text/csv' },
  })
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="bonus-account-bills.csv"')
  const [head = '', line = '', ...rest] = (await csv.text()).split('\r\n')
  expect(head).toMatch(/^id,currency,amount,.*,created_at,created_at_iso/)
  expect(line).toMatch(/^R\d+-1,USDT,0\.100000000000000001,1,ADJUSTMENT_CREDIT,0\.100000000000000001,/)
  const createdAt = Number(/,(\d{13}),/.exec(line)?.[1])
  expect(line).toContain(`,${createdAt},${new Date(createdAt).toISOString()}`)
  expect(rest).toEqual([''])
})

it('/account/info lists currencies in alphabetical order, or only the requested one', async () => {
  const { data } = await get(owner, '/account/info')
  expect((data as { currency: string }[]).map(({ currency }) => currency)).toEqual(['BIG', 'USDT'])
  expect((await get(owner, '/account/info?currency=none')).data).toEqual([])
  expect((await get(owner, '/account/info?currency=usdt')).text).toContain('"deposited":7.25')
})

it('/account/asset converts currencies that have a rate and leaves the others out of the sum', async () => {
  const { data } = await get(owner, '/account/asset')
  expect(data).toMatchObject({
    currency: 'USDT',
    balance: 7.25,
    assets: [
      { currency: 'BIG', rate: null, value: null },
      { currency: 'USDT', balance: 7.25, rate: 1, value: 7.25 },
    ],
  })
  expect((await get(stranger, '/bonus-account/asset')).data).toMatchObject({ total: 0, assets: [] })
})

it('no endpoint shows a user another user’s bills, deposits or addresses', async () => {
  expect((await get(owner, `/deposit/get/${depositId}`)).data).toMatchObject({ id: depositId, amount: 7.25 })
  expect(await get(stranger, `/deposit/get/${depositId}`)).toMatchObject({ status: 404, code: 40401 })
  for (const path of ['/account/bills', '/bonus-account/bills', '/deposit/records']) {
    for (const extra of [
      '',
      '&currency=USDT',
      `&user_id=${owner}`,
      '&beginTime=2026-01-01&endTime=2999-01-01',
    ]) {
      expect((await get(stranger, `${path}?current=1&size=20${extra}`)).data).toEqual({
        records: [],
        total: 0,
        size: 20,
        current: 1,
        pages: 0,
      })
    }
  }
  for (const path of ['/account/bills/export', '/bonus-account/bills/export'])
    expect((await get(stranger, path)).data).toMatchObject({ records: [], total: 0 })
  for (const path of ['/account/info', '/bonus-account/info', `/account/info?user_id=${owner}`])
    expect((await get(stranger, path)).data).toEqual([])
  const query = `currency=${pool.currency}&currencyNetWork=${pool.network}`
  const [mine, theirs] = await Promise.all([owner, stranger].map((id) => get(id, `/address/info?${query}`)))
  expect((mine?.data as { address: string }).address).not.toBe((theirs?.data as { address: string }).address)
  expect(await get(await addUser(), `/address/info?${query}`)).toMatchObject({ status: 503, code: 50300 })
})

it.each([
  ['/account/bills?current=1&size=20&amountDirection=3', 40001],
  ['/account/bills/export?beginTime=2026-02-02&endTime=2026-02-01', 40001],
  ['/deposit/records?current=1&size=20&beginTime=2026-02-02&endTime=2026-02-01', 40001],
  ['/address/info?currency=USDT', 40001],
  ['/address/info?currency=USDT&currencyNetWork=NOWHERE', 40001],
  ['/deposit/get/nothing-of-the-kind', 40401],
  ['/withdrawal/get/nothing-of-the-kind', 40401],
  ['/withdrawal/get/%20%00', 40401],
  [`/withdrawal/get/${'A'.repeat(201)}`, 40401],
  ['/withdrawal/records?size=20', 40001],
  ['/withdrawal/records?current=1&size=20&beginTime=2026-02-02&endTime=2026-02-01', 40001],
  [`/deposit/get/${'A'.repeat(43)}`, 40401],
])('the wallet or deposit request %s is answered with error code %d', async (path, code) => {
  expect((await get(owner, path)).code).toBe(code)
})

it.each([
  `/account/bills?current=1&size=20&currency=${'X'.repeat(3_000)}`,
  '/account/bills?current=1&size=20&currency=%2A',
  '/account/bills?current=1&size=20&businessId=nothing',
  '/account/bills?current=1&size=20&businessId=DEPOSIT&amountDirection=2',
  '/account/bills?current=1&size=20&beginTime=2999-01-01',
  '/account/bills?current=2147483647&size=20&endTime=1970-01-01',
  '/deposit/records?current=1&size=20&beginTime=2999-01-01',
  '/withdrawal/records?current=1&size=20&currency=%2A',
])('a filter that matches no bill or deposit gets an empty page: %s', async (path) => {
  expect((await get(owner, path)).data).toMatchObject({ records: [], total: 0, pages: 0 })
})

it('the wallet and deposit endpoints refuse a token without their scope', async () => {
  for (const path of ['/account/info', '/account/bills/export', '/bonus-account/bills/export'])
    expect((await get(owner, path, { scopes: ['deposit.read'] })).code).toBe(40300)
  expect((await get(owner, '/deposit/records?current=1&size=1', { scopes: ['account.read'] })).code).toBe(
    40300,
  )
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
    for (const path of [`/withdrawal/get/${id}`, '/withdrawal/records?current=1&size=20'])
      expect((await get(userId, path, { scopes: ['deposit.read'] })).code).toBe(40300)
    expect(await get(stranger, `/withdrawal/get/${id}`)).toMatchObject({ status: 404, code: 40401 })
    const bills = await get(userId, '/account/bills?current=1&size=20&businessId=WITHDRAWAL_FEE')
    expect(bills.data).toMatchObject({
      total: 1,
      records: [{ amount: 0.5, reference: id, balance_after: 6 }],
    })
  },
  patience(60_000),
)
