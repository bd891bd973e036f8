import { handler as activated } from '../../functions/intake/device.activated.ts'
import { handler as deactivated } from '../../functions/intake/device.deactivated.ts'
import { applyEvent } from '../support/apply-event.ts'
import fc from 'fast-check'
import * as v from 'valibot'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EarningsQuery, readEarnings } from '../../shared/dashboard/earnings.ts'
import { readNetworkRewards, readOverview } from '../../shared/dashboard/overview.ts'
import { recordReward, type Reward } from '../../shared/dashboard/sums.ts'
import { addDays } from '../../shared/dates.ts'
import { transact } from '../../shared/db/write.ts'
import { Big, zero } from '../../shared/money.ts'
import { stringifyExact } from '../../shared/stringify-exact.ts'
import { settings } from '../../shared/settings.ts'
import { newUserIds, silenceTreeQueue } from '../support/community.ts'
import { join } from '../support/community-events.ts'

// Berlin's summer time began on 29 March 2026, a day of 23 hours.
// At this instant it is the 30th in Berlin and the 29th in UTC.
const now = Date.parse('2026-03-29T22:30:00Z')
const today = '2026-03-30'

beforeEach(() => {
  silenceTreeQueue()
  vi.useFakeTimers({ toFake: ['Date'], now })
  Object.assign(settings(), { reportingTimeZone: 'Europe/Berlin' })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const rewards = fc.array(
  fc.record({
    rewardType: fc.constantFrom('NODE', 'REFERRAL', 'x~'),
    // UNRATED never has a rate: no other test on the shared stack publishes one.
    currency: fc.constantFrom('USDT', 'UNRATED'),
    amount: fc.constantFrom('99999999999999999999.999999999999999999', '0.000000000000000001', '7', '1.5'),
    daysAgo: fc.integer({ min: -1, max: 32 }),
  }),
  { minLength: 1, maxLength: 15 },
)

const sumOf = (chosen: readonly Reward[]) => chosen.reduce((sum, { amount }) => sum.plus(amount), zero)

describe('the dashboard', () => {
  it('the dashboard shows the sums of all rewards, also across the change to summer time', async () => {
    await fc.assert(
      fc.asyncProperty(rewards, async (drawn) => {
        const userId = newUserIds()
        const granted: Reward[] = drawn.map(({ daysAgo, amount, ...rest }) => ({
          ...rest,
          userId,
          amount: new Big(amount),
          earnedOn: addDays(today, -daysAgo),
        }))
        for (const reward of granted) await transact(await recordReward(reward))
        const currencies = (chosen: readonly Reward[]) =>
          [...new Set(chosen.map(({ currency }) => currency))].sort().map((currency) => ({
            currency,
            amount: sumOf(chosen.filter((reward) => reward.currency === currency)),
          }))
        const overview = await readOverview(userId)
        expect(stringifyExact(overview)).toBe(
          stringifyExact({
            network_rewards: sumOf(granted.filter(({ currency }) => currency === 'USDT')),
            devices: 0,
            traffic_gb: zero,
            balances: [],
            total_earnings: currencies(granted),
            yesterday_earnings: currencies(granted.filter(({ earnedOn }) => earnedOn === '2026-03-29')),
          }),
        )
        const window = v.parse(EarningsQuery, {})
        expect(window).toEqual({ beginDate: '2026-03-01', endDate: today })
        const inWindow = granted.filter(({ earnedOn }) => earnedOn >= '2026-03-01' && earnedOn <= today)
        const days = Array.from({ length: 30 }, (_, i) => addDays('2026-03-01', i))
        expect(stringifyExact(await readEarnings(userId, window))).toBe(
          stringifyExact(
            days.flatMap((date) =>
              currencies(inWindow).map(({ currency }) => ({
                date,
                currency,
                amount: sumOf(
                  inWindow.filter((reward) => reward.earnedOn === date && reward.currency === currency),
                ),
              })),
            ),
          ),
        )
        const types = (await readNetworkRewards(userId)).map(({ reward_type, currency, amount }) => {
          const same = granted.filter((reward) => reward.rewardType === reward_type)
          const expected = sumOf(same.filter((reward) => reward.currency === currency))
          return amount.eq(expected)
        })
        expect(types).not.toContain(false)
        expect(types).toHaveLength(
          new Set(granted.map(({ rewardType, currency }) => `${rewardType} ${currency}`)).size,
        )
      }),
      { numRuns: 8 },
    )
  })

  it.each([
    [{ beginDate: '9999-12-30', endDate: '9999-12-31' }, true],
    [{ beginDate: '2026-01-01', endDate: '2027-01-01' }, true],
    [{ beginDate: '2026-01-01', endDate: '2027-01-02' }, false],
    [{ beginDate: '2026-03-31' }, false],
  ])('whether the earnings window %j is accepted: %s', (window, good) => {
    expect(v.is(EarningsQuery, window)).toBe(good)
  })
})

it('earnings of a year in as many currencies as fit are answered within 6 MB, and in more are refused', async () => {
  const userId = newUserIds()
  for (let i = 0; i < 60; i += 1) {
    const currency = `LONG-CURRENCY-${String(i).padStart(6, '0')}`
    const amount = new Big('99999999999999999999.999999999999999999')
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

type DeviceEvent = [user: 0 | 1, at: number, active: boolean]

it.each<[string, DeviceEvent[], number[]]>([
  ['activated', [[0, 1, true]], [1, 0]],
  [
    'activated twice',
    [
      [0, 1, true],
      [0, 1, true],
    ],
    [1, 0],
  ],
  [
    'that another user activates',
    [
      [0, 1, true],
      [1, 2, true],
    ],
    [0, 1],
  ],
  [
    'of whose events the latest arrives first',
    [
      [1, 5, true],
      [0, 3, true],
      [0, 4, false],
    ],
    [0, 1],
  ],
  [
    'that another user deactivates',
    [
      [0, 1, true],
      [1, 2, false],
    ],
    [0, 0],
  ],
  [
    'activated and deactivated at one instant',
    [
      [0, 1, true],
      [0, 1, false],
    ],
    [0, 0],
  ],
  [
    'deactivated and activated at one instant',
    [
      [0, 1, false],
      [0, 1, true],
    ],
    [0, 0],
  ],
])('a device %s counts for the user of its latest event', async (_what, events, counts) => {
  const users = [newUserIds(), newUserIds()]
  for (const userId of users)
    await join({ userId, nickname: 'n', email: `${userId}@example.com`, registeredAt: 1 })
  for (const [user, at, active] of events)
    await applyEvent(active ? activated : deactivated, {
      device_id: `d-${users[0]}`,
      at,
      user_id: users[user],
    })
  const overviews = await Promise.all(users.map((userId) => readOverview(userId)))
  expect(overviews.map(({ devices }) => devices)).toEqual(counts)
})
