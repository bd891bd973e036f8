import { expect, it } from 'vitest'
import { handler } from '../../../functions/dashboard/network-rewards.ts'
import { callAs, scopeRefusal, scopesWithout } from '../../support/call-as.ts'
import { addUser } from '../../support/ledger.ts'
import { grantReward } from '../../support/rewards.ts'

const call = callAs(handler, 'dashboard.read')

it('dashboard/network-rewards sums rewards by type and currency, in order, with all digits', async () => {
  const owner = await addUser()
  await grantReward(owner, { reward_type: 'REFERRAL', amount: '2' })
  await grantReward(owner, { currency: 'ZED', amount: '5' })
  await grantReward(owner, { amount: '1' })
  await grantReward(owner, { amount: '0.000000000000000001', earned_on: '2025-12-31' })
  const { status, code, text } = await call(owner)
  expect([status, code]).toEqual([200, 0])
  expect(text).toContain(
    '"data":[{"reward_type":"NODE","currency":"USDT","amount":1.000000000000000001},' +
      '{"reward_type":"NODE","currency":"ZED","amount":5},' +
      '{"reward_type":"REFERRAL","currency":"USDT","amount":2}]',
  )
})

it('dashboard/network-rewards is empty for a new user, whatever id the query names', async () => {
  const other = await addUser()
  await grantReward(other, {})
  expect((await call(await addUser(), { query: `user_id=${other}` })).data).toEqual([])
})

it('dashboard/network-rewards refuses a token without dashboard.read', async () => {
  const scopes = scopesWithout('dashboard.read')
  expect(await call(await addUser(), { scopes })).toMatchObject(scopeRefusal)
})
