import { beforeEach, expect, it, vi } from 'vitest'
import { handler } from '../../../functions/dashboard/overview.ts'
import { handler as deviceActivated } from '../../../functions/intake/device.activated.ts'
import { handler as trafficReported } from '../../../functions/intake/traffic.reported.ts'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { callAs, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { addUser, adjustment } from '../../support/ledger.ts'
import { grantReward } from '../../support/rewards.ts'

const call = callAs(handler, 'dashboard.read')
const at = 1_700_000_000_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-05T23:59:59Z') }))

it('dashboard/overview counts rewards, devices, traffic and balances, with all digits', async () => {
  const owner = await addUser()
  await grantReward(owner, { amount: '1.000000000000000001', earned_on: '2026-03-04' })
  await grantReward(owner, { amount: '2', reward_type: 'REFERRAL', earned_on: '2026-03-05' })
  await grantReward(owner, { amount: '5', currency: 'UNRATED', earned_on: '2026-03-03' })
  await applyEvent(walletAdjusted, adjustment(owner, { amount: '7.25' }))
  const device = { device_id: `d${owner}`, user_id: owner }
  await applyEvent(deviceActivated, { ...device, at })
  await applyEvent(trafficReported, { ...device, report_id: `t${owner}`, bytes: 1_234_567_891, at })
  const { status, code, text } = await call(owner)
  expect([status, code]).toEqual([200, 0])
  expect(text).toContain(
    '"data":{"network_rewards":3.000000000000000001,"devices":1,"traffic_gb":1.234567891,' +
      '"balances":[{"currency":"UNRATED","balance":0,"bonus_balance":5},' +
      '{"currency":"USDT","balance":7.25,"bonus_balance":3.000000000000000001}],' +
      '"total_earnings":[{"currency":"UNRATED","amount":5},{"currency":"USDT","amount":3.000000000000000001}],' +
      '"yesterday_earnings":[{"currency":"USDT","amount":1.000000000000000001}]}',
  )
})

it('dashboard/overview has no rows of zero', async () => {
  const owner = await addUser()
  await applyEvent(walletAdjusted, adjustment(owner))
  await applyEvent(walletAdjusted, adjustment(owner, { direction: 2 }))
  expect((await call(owner)).data).toMatchObject({ balances: [], total_earnings: [], yesterday_earnings: [] })
})

it('dashboard/overview is empty for a new user, whatever id the query names', async () => {
  const other = await addUser()
  await grantReward(other, {})
  expect((await call(await addUser(), { query: `user_id=${other}` })).data).toEqual({
    ...{ network_rewards: 0, devices: 0, traffic_gb: 0 },
    ...{ balances: [], total_earnings: [], yesterday_earnings: [] },
  })
})

it('dashboard/overview refuses a token without dashboard.read', async () => {
  const scopes = scopesWithout('dashboard.read')
  expect(await call(await addUser(), { scopes })).toMatchObject(scopeRefusal)
})
