import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { handler } from '../../../functions/dashboard/earnings.ts'
import { callAs, refusalOf, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { addUser } from '../../support/ledger.ts'
import { grantReward } from '../../support/rewards.ts'

const call = callAs(handler, 'dashboard.read')

let owner: number

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-30T12:00:00Z') }))

beforeAll(async () => {
  owner = await addUser()
  await grantReward(owner, { amount: '2', earned_on: '2026-01-01' })
  await grantReward(owner, { amount: '0.000000000000000001', earned_on: '2026-01-01' })
  await grantReward(owner, { amount: '3', currency: 'BTC', earned_on: '2026-01-03' })
})

it('dashboard/earnings has a point for each day and each currency earned in the period', async () => {
  const { status, code, text } = await call(owner, { query: 'beginDate=2026-01-01&endDate=2026-01-03' })
  expect([status, code]).toEqual([200, 0])
  expect(text).toContain(
    '"data":[{"date":"2026-01-01","currency":"BTC","amount":0},' +
      '{"date":"2026-01-01","currency":"USDT","amount":2.000000000000000001},' +
      '{"date":"2026-01-02","currency":"BTC","amount":0},{"date":"2026-01-02","currency":"USDT","amount":0},' +
      '{"date":"2026-01-03","currency":"BTC","amount":3},{"date":"2026-01-03","currency":"USDT","amount":0}]',
  )
})

it('without dates, dashboard/earnings has the last 30 days with today', async () => {
  const earner = await addUser()
  await grantReward(earner, { earned_on: '2026-03-01' })
  const { data } = await call(earner)
  const points = data as { date: string; amount: number }[]
  expect(points).toHaveLength(30)
  expect(points.at(0)).toEqual({ date: '2026-03-01', currency: 'USDT', amount: 1 })
  expect(points.at(-1)).toEqual({ date: '2026-03-30', currency: 'USDT', amount: 0 })
})

it('dashboard/earnings takes a period of 366 days', async () => {
  const { data } = await call(owner, { query: 'beginDate=2025-03-30&endDate=2026-03-30' })
  expect(data).toHaveLength(2 * 366)
})

it('dashboard/earnings of a period without earnings is empty', async () => {
  expect((await call(owner, { query: 'beginDate=2026-02-01&endDate=2026-02-28' })).data).toEqual([])
})

it('dashboard/earnings is empty for another user, whatever id the query names', async () => {
  const query = `beginDate=2026-01-01&endDate=2026-01-03&user_id=${owner}`
  expect((await call(await addUser(), { query })).data).toEqual([])
})

it.each([
  ['beginDate=2026-02-03&endDate=2026-02-02', 'endDate'],
  ['beginDate=2025-01-01&endDate=2026-01-02', 'endDate'],
  ['beginDate=2025-03-29', 'beginDate'],
  ['beginDate=2026-03-31', 'beginDate'],
  ['beginDate=2026-02-30', 'beginDate'],
  ['endDate=today', 'endDate'],
])('dashboard/earnings?%s is refused because of %s', async (query, parameter) => {
  expect(await call(owner, { query })).toMatchObject(refusalOf(parameter))
})

it('dashboard/earnings refuses a token without dashboard.read', async () => {
  expect(await call(owner, { scopes: scopesWithout('dashboard.read') })).toMatchObject(scopeRefusal)
})
