import { handler as activated } from '../../functions/intake/device.activated.ts'
import { handler as deactivated } from '../../functions/intake/device.deactivated.ts'
import { applyEvent } from '../support/apply-event.ts'
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
import { join } from '../support/community-events.ts'

// Berlin's summer time began on 29 March 2026, a day of 23 hours. This instant is on 30 March in Berlin, but
// on 29 March in UTC.
const now = Date.parse('2026-03-29T22:30:00Z')
const today = '2026-03-30'

beforeEach(() => {
  silenceTreeQueue()
  vi.useFakeTimers({ toFake: ['Date'], now })
  Object.assign(settings(), { reportingTimeZone: 'Europe/Berlin' })
})
const huge = '99999999999999999999.999999999999999999'

it('the dashboard sums rewards by the days of the reporting time zone, also across the change to summer time', async () => {
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

it.each([
  ['activated', '0@1+', [1, 0]],
  ['activated twice', '0@1+ 0@1+', [1, 0]],
  ['that another user activates', '0@1+ 1@2+', [0, 1]],
  ['whose latest event arrives first', '1@5+ 0@3+ 0@4-', [0, 1]],
  ['that another user deactivates', '0@1+ 1@2-', [1, 0]],
  ['that its former user deactivates', '0@1+ 1@2+ 0@3-', [0, 1]],
  ['that its former user deactivates, in the opposite order', '0@3- 1@2+ 0@1+', [0, 1]],
  ['activated and deactivated at one instant', '0@1+ 0@1-', [0, 0]],
  ['deactivated and activated at one instant', '0@1- 0@1+', [0, 0]],
])(
  'a device counts for the user who activated it last, until that user deactivates it: %s (user@instant: %s)',
  async (_what, events, counts) => {
    const users = [newUserIds(), newUserIds()]
    for (const userId of users)
      await join({ userId, nickname: 'n', email: `${userId}@example.com`, registeredAt: 1 })
    for (const [, user, at, sign] of events.matchAll(/(\d)@(\d)([+-])/g)) {
      const event = {
        device_id: `d-${users[0]}`,
        at: 1_700_000_000_000 + Number(at),
        user_id: users[Number(user)],
      }
      await applyEvent(sign === '+' ? activated : deactivated, event)
    }
    const overviews = await Promise.all(users.map((userId) => readOverview(userId)))
    expect(overviews.map(({ devices }) => devices)).toEqual(counts)
  },
)

it('an event of a device that changes nothing because a later one stands has the outcome overtaken', async () => {
  const [a, b] = [newUserIds(), newUserIds()]
  for (const userId of [a, b])
    await join({ userId, nickname: 'n', email: `${userId}@example.com`, registeredAt: 1 })
  const send = (handler: typeof activated, user_id: number, late: number) =>
    applyEvent(handler, { device_id: `d-${a}`, user_id, at: 1_700_000_000_000 + late })
  expect(await send(activated, a, 1)).toBe('applied')
  expect(await send(activated, b, 3)).toBe('applied')
  expect(await send(activated, a, 2)).toBe('overtaken')
  expect(await send(deactivated, a, 4)).toBe('overtaken')
  expect(await send(deactivated, b, 2)).toBe('overtaken')
  expect(await send(deactivated, b, 5)).toBe('applied')
})
