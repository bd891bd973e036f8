import * as v from 'valibot'
import { beforeEach, expect, it, vi } from 'vitest'
import { EarningsQuery, readEarnings } from '../../shared/dashboard/earnings.ts'
import { readNetworkRewards, readOverview } from '../../shared/dashboard/overview.ts'
import { recordReward } from '../../shared/dashboard/sums.ts'
import { addDays } from '../../shared/dates.ts'
import { ConditionFailed, transact } from '../../shared/db/write.ts'
import { Big, zero } from '../../shared/money.ts'
import { stringifyExact } from '../../shared/stringify-exact.ts'
import { settings } from '../../shared/settings.ts'
import { newUserIds, silenceTreeQueue } from '../support/community.ts'

// Berlin's summer time began on 29 March 2026, a day of 23 hours. This instant is on 30 March in Berlin, but
// on 29 March in UTC.
const now = Date.parse('2026-03-29T22:30:00Z')
const today = '2026-03-30'

beforeEach(() => {
  silenceTreeQueue()
  vi.useFakeTimers({ toFake: ['Date'], now })
  vi.spyOn(settings(), 'reportingTimeZone', 'get').mockReturnValue('Europe/Berlin')
})
const huge = '99999999999999999999.999999999999999999'

it('the dashboard sums rewards by days of the reporting time zone, across its summer time', async () => {
  const userId = newUserIds()
  for (const [rewardType, currency, amount, earnedOn] of [
    ['NODE', 'USDT', '1.5', '2026-03-29'],
    ['NODE', 'USDT', '0.000000000000000001', '2026-03-29'],
    ['REFERRAL', 'USDT', '7', '2026-03-31'],
    // No test publishes a rate of this currency.
    ['x~', 'UNRATED', huge, '2026-03-01'],
    ['x~', 'USDT', '2', '2026-02-28'],
  ] as const)
    await transact(await recordReward({ userId, rewardType, currency, amount: new Big(amount), earnedOn }))
  expect(stringifyExact(await readOverview(userId))).toBe(
    stringifyExact({
      network_rewards: new Big('10.500000000000000001'),
      devices: 0,
      traffic_gb: zero,
      balances: [],
      total_earnings: [
        { currency: 'UNRATED', amount: new Big(huge) },
        { currency: 'USDT', amount: new Big('10.500000000000000001') },
      ],
      yesterday_earnings: [{ currency: 'USDT', amount: new Big('1.500000000000000001') }],
    }),
  )
  const window = v.parse(EarningsQuery, {})
  expect(window).toEqual({ beginDate: '2026-03-01', endDate: today })
  const points = await readEarnings(userId, window)
  expect(points).toHaveLength(60)
  expect(stringifyExact(points.filter(({ amount }) => !amount.eq(zero)))).toBe(
    stringifyExact([
      { date: '2026-03-01', currency: 'UNRATED', amount: new Big(huge) },
      { date: '2026-03-29', currency: 'USDT', amount: new Big('1.500000000000000001') },
    ]),
  )
  const types = await readNetworkRewards(userId)
  expect(types.map(({ reward_type, currency, amount }) => [reward_type, currency, amount.toFixed()])).toEqual(
    [
      ['NODE', 'USDT', '1.500000000000000001'],
      ['REFERRAL', 'USDT', '7'],
      ['x~', 'UNRATED', huge],
      ['x~', 'USDT', '2'],
    ],
  )
})

it.each([
  [{ beginDate: '9999-12-30', endDate: '9999-12-31' }, true],
  [{ beginDate: '2026-01-01', endDate: '2027-01-01' }, true],
  [{ beginDate: '2026-01-01', endDate: '2027-01-02' }, false],
  [{ beginDate: '2026-03-31' }, false],
])('the period %j of an earnings request is valid: %s', (window, good) => {
  expect(v.is(EarningsQuery, window)).toBe(good)
})

it.each([
  [{ beginDate: '2099-01-01' }, 'beginDate'],
  [{ beginDate: '2020-01-01' }, 'beginDate'],
  [{ beginDate: '2026-03-31', endDate: '2026-03-30' }, 'endDate'],
  [{ beginDate: '2020-01-01', endDate: '2026-03-30' }, 'endDate'],
])('an earnings request with %j is refused because of %s, which it has', (query, field) => {
  const { issues = [] } = v.safeParse(EarningsQuery, query)
  expect(issues.map((issue) => v.getDotPath(issue))).toEqual([field])
})

it('if the first two rewards of one type and currency are recorded at the same time, one of them fails', async () => {
  const reward = { userId: newUserIds(), rewardType: 'NODE', currency: 'USDT', earnedOn: today }
  const prepare = () => recordReward({ ...reward, amount: new Big('1') })
  const [first, second] = await Promise.all([prepare(), prepare()])
  await transact(first)
  await expect(transact(second)).rejects.toThrow(ConditionFailed)
})

it('an earnings request is refused if its days and currencies would make an answer of more than 6 MB', async () => {
  const userId = newUserIds()
  for (let i = 0; i < 60; i += 1) {
    const currency = `LONG-CURRENCY-${String(i).padStart(6, '0')}`
    const amount = new Big(huge)
    await transact(
      await recordReward({ userId, rewardType: 'NODE', currency, amount, earnedOn: '2026-03-29' }),
    )
  }
  const window = (beginDate: string) => v.parse(EarningsQuery, { beginDate, endDate: today })
  await expect(readEarnings(userId, window('2025-03-30'))).rejects.toMatchObject({
    failure: 'invalid_parameter',
  })
  const points = await readEarnings(userId, window(addDays(today, -332)))
  expect(points).toHaveLength(19_980)
  expect(JSON.stringify(stringifyExact(points)).length).toBeLessThan(6 * 1024 * 1024)
})
