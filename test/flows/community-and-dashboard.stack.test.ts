import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { dayOf, addDays } from '../../shared/dates.ts'
import { callWith, eventually } from '../support/call-stack.ts'
import { newUserIds } from '../support/community.ts'
import { putEvents } from '../support/put-event.ts'

const call = callWith(['community.read', 'community.write', 'dashboard.read'])

const register = (userId: number, nickname: string, referrerId?: number, registeredAt = 1_767_225_600_000) =>
  putEvents('user.registered', [
    {
      user_id: userId,
      email: `${nickname}-${userId}@example.com`,
      nickname,
      ...(referrerId === undefined ? {} : { referrer_id: referrerId }),
      registered_at: registeredAt,
    },
  ])

const members = (userId: number, query: string) => call(userId, `/community/members?${query}`)

it('the community endpoints show new members and their purchases to all ancestors', async () => {
  const root = newUserIds()
  const [child, grandchild] = [root + 1, root + 2]
  await register(root, 'Root')
  await register(child, 'Child', root)
  await register(grandchild, 'Grandchild', child, 1_767_225_700_000)
  const purchases = Array.from({ length: 20 }, (_, i) => ({
    purchase_id: `${root}-${i}`,
    user_id: i % 2 === 0 ? child : grandchild,
    amount: '0.100000000000000001',
    at: Date.now(),
  }))
  await putEvents('package.purchased', purchases)
  await eventually(async () => {
    const { status, text, data } = await members(root, 'type=COMMUNITY&current=1&size=20')
    expect(status).toBe(200)
    expect(data).toMatchObject({
      total: 2,
      records: [
        { user_id: grandchild, nickname: 'Grandchild', level: 2, note: null, direct_count: 0 },
        { user_id: child, nickname: 'Child', level: 1, note: '', direct_count: 1, team_count: 1 },
      ],
    })
    expect(text).toContain('"package_amount":1.00000000000000001,"team_performance":0,')
    expect(text).toContain('"package_amount":1.00000000000000001,"team_performance":1.00000000000000001,')
  })
  const body = { target_user_id: child, note: ' hi ' }
  expect((await call(root, '/community/members/note', { body })).data).toBe(null)
  await putEvents('user.updated', [
    { update_id: randomUUID(), user_id: child, at: 1_700_000_000_002, nickname: 'Renamed' },
  ])
  await eventually(async () =>
    expect((await members(root, 'keyword=RENAM&current=1&size=20')).data).toMatchObject({
      total: 1,
      records: [{ user_id: child, nickname: 'Renamed', note: 'hi' }],
    }),
  )
  expect((await call(root, '/community/members/export?type=COMMUNITY')).data).toMatchObject({
    total: 2,
    cap: 10_000,
    truncated: false,
    records: [{ user_id: grandchild }, { user_id: child }],
  })
})

it.each([
  ['/community/members?current=1&size=21', 40001],
  ['/community/members/export?type=ALL', 40001],
  ['/dashboard/earnings?endDate=today', 40001],
])('GET %s is refused with code %d, as the API reference says', async (path, code) => {
  expect((await call(newUserIds(), path)).code).toBe(code)
})

it.each([
  ['/community/members/note', { target_user_id: 1, note: '' }, 'community.read'],
  ['/dashboard/overview', undefined, 'community.read'],
] as const)('%s refuses a token without the required scope', async (path, body, scope) => {
  const answer = await call(newUserIds(), path, { ...(body && { body }), scopes: [scope] })
  expect(answer).toMatchObject({ status: 403, code: 40300 })
})

it('the dashboard endpoints count rewards, devices and traffic', async () => {
  const user = newUserIds()
  const yesterday = addDays(dayOf(Date.now()), -1)
  await register(user, 'Earner')
  const grant = (amount: string, changes: object = {}) =>
    putEvents('reward.granted', [
      {
        reward_id: randomUUID(),
        user_id: user,
        reward_type: 'NODE',
        currency: 'USDT',
        amount,
        earned_on: yesterday,
        ...changes,
      },
    ])
  await grant('1.000000000000000001')
  await grant('2', { reward_type: 'REFERRAL', earned_on: '2026-01-01' })
  await grant('5', { currency: `X${user}` })
  await putEvents('device.activated', [{ device_id: `d${user}`, at: 1_700_000_000_005, user_id: user }])
  await putEvents('device.activated', [{ device_id: `e${user}`, at: 1_700_000_000_005, user_id: user }])
  await putEvents('device.deactivated', [{ device_id: `e${user}`, at: 1_700_000_000_006, user_id: user }])
  await putEvents('device.activated', [{ device_id: `e${user}`, at: 1_700_000_000_004, user_id: user }])
  await putEvents('traffic.reported', [
    {
      report_id: randomUUID(),
      user_id: user,
      device_id: `d${user}`,
      bytes: 1_234_567_891,
      at: 1_700_000_000_007,
    },
  ])
  await eventually(async () => {
    const { text, data } = await call(user, '/dashboard/overview')
    expect(data).toMatchObject({
      devices: 1,
      balances: [
        { currency: 'USDT', balance: 0 },
        { currency: `X${user}`, bonus_balance: 5 },
      ],
    })
    expect(text).toContain('"network_rewards":3.000000000000000001,')
    expect(text).toContain('"traffic_gb":1.234567891,')
    expect(text).toContain('"total_earnings":[{"currency":"USDT","amount":3.000000000000000001},{')
    expect(text).toContain('"yesterday_earnings":[{"currency":"USDT","amount":1.000000000000000001},{')
  })
  expect((await call(user, '/dashboard/network-rewards')).data).toEqual([
    { reward_type: 'NODE', currency: 'USDT', amount: expect.any(Number) as number },
    { reward_type: 'NODE', currency: `X${user}`, amount: 5 },
    { reward_type: 'REFERRAL', currency: 'USDT', amount: 2 },
  ])
  const { data: points } = await call(user, '/dashboard/earnings')
  expect(points).toHaveLength(60)
  expect((await call(user, '/dashboard/earnings?beginDate=2025-12-31&endDate=2026-01-02')).data).toEqual([
    { date: '2025-12-31', currency: 'USDT', amount: 0 },
    { date: '2026-01-01', currency: 'USDT', amount: 2 },
    { date: '2026-01-02', currency: 'USDT', amount: 0 },
  ])
})
