import { randomUUID } from 'node:crypto'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { backgroundScenarios } from '../../infra/grants/background-scenarios.ts'
import type { Scenario } from '../../infra/grants/calls.ts'
import { dataScenarios } from '../../infra/grants/data-scenarios.ts'
import { eventScenarios } from '../../infra/grants/event-scenarios.ts'
import { signInScenarios } from '../../infra/grants/sign-in-scenarios.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { addUser, adjustment } from '../../support/ledger.ts'
import { createSession } from '../../support/oauth-clients.ts'
import { createUser } from '../../support/sign-in.ts'

/** A request, an event or a run of which the benchmark prints what it costs. */
export interface Operation {
  title: string
  /** Name of the function. */
  of: string
  /** Calls the function, once or several times. */
  scenario: Scenario
  /** Which of the calls is measured. */
  call: number
  /** A run is called by the clock, a message comes from an internal queue. */
  kind: 'request' | 'event' | 'message' | 'run'
}

const scenarios: Record<string, Scenario> = {
  ...signInScenarios,
  ...dataScenarios,
  ...eventScenarios,
  ...backgroundScenarios,
}

/** An operation that the tests of the grants call anyway: the first call of a function, or a later one. */
const granted =
  (kind: Operation['kind']) =>
  (title: string, of: string, call = 0): Operation => {
    const scenario = scenarios[of]
    if (scenario === undefined) throw new Error(`the tests of the grants do not call ${of}`)
    return { title, of, scenario, call, kind }
  }

const request = granted('request')
const event = granted('event')

/** Posts this many bills into the asset wallet of a user. */
async function addBills(userId: number, count: number): Promise<void> {
  for (let bill = 0; bill < count; bill += 1) await applyEvent(walletAdjusted, adjustment(userId))
}

/** A page of twenty bills. */
const pageOfBills: Scenario = async (calls) => {
  const { accessToken, userId } = await createSession()
  await addBills(userId, 20)
  await calls.request({ token: accessToken, query: { current: '1', size: '20' } })
}

const furtherBill: Scenario = async ({ deliver }) => {
  const userId = await addUser()
  await addBills(userId, 1)
  await deliver(adjustment(userId))
}

const repeatedEvent: Scenario = async ({ deliver }) => {
  const detail = adjustment(await addUser())
  await deliver(detail)
  await deliver(detail)
}

const passwordOfAuthenticatorUser: Scenario = async (calls) => {
  const { email, password } = await createUser()
  await calls.request({ json: { email, login_password: password } })
}

const transfer: Scenario = async ({ deliver }) => {
  const userId = await addUser()
  for (const wallet of ['asset', 'reward'])
    await applyEvent(walletAdjusted, adjustment(userId, { wallet, amount: '9' }))
  await deliver({
    transfer_id: randomUUID(),
    user_id: userId,
    from: 'asset',
    to: 'reward',
    currency: 'USDT',
    amount: '1',
    at: Date.now(),
  })
}

/** Every operation, by subject. Every function of the stack has one. */
export const operations: Operation[] = [
  request('GET /oauth2/authorize', 'oauth2-authorize'),
  request('GET /oauth2/authorize/request', 'oauth2-describe-request'),
  request('POST /oauth2/authorize/consent', 'oauth2-consent'),
  request('POST /oauth2/token', 'oauth2-token'),
  request('POST /oauth2/authorize', 'oauth2-exchange'),
  request('GET /oauth2/userinfo', 'oauth2-userinfo'),
  request('POST /oauth2/revoke', 'oauth2-revoke'),
  request('GET /.well-known/jwks.json', 'well-known-jwks'),
  {
    ...request('GET /.well-known/openid-configuration', 'well-known-jwks'),
    of: 'well-known-openid-configuration',
  },
  request('POST /user/login-with-password, with a mail', 'user-login-with-password', 1),
  {
    ...request('POST /user/login-with-password, authenticator', 'user-login-with-password'),
    scenario: passwordOfAuthenticatorUser,
  },
  request('POST /user/login/2fa, mailed code', 'user-login-2fa'),
  request('POST /user/login/2fa, authenticator', 'user-login-2fa', 1),
  request('POST /user/logout', 'user-logout'),
  request('GET /account/info', 'account-info'),
  { ...request('GET /account/bills, 20 bills', 'account-bills'), scenario: pageOfBills },
  request('GET /account/bills, with a date', 'account-bills', 1),
  request('GET /account/asset', 'account-asset'),
  request('GET /bonus-account/info', 'bonus-account-info'),
  request('GET /bonus-account/bills', 'bonus-account-bills'),
  request('GET /bonus-account/asset', 'bonus-account-asset'),
  request('GET /community/members', 'community-members'),
  request('GET /community/members, keyword', 'community-members', 1),
  request('GET /community/members/export', 'community-export'),
  request('POST /community/members/note', 'community-note'),
  request('GET /dashboard/overview', 'dashboard-overview'),
  request('GET /dashboard/network-rewards', 'dashboard-network-rewards'),
  request('GET /dashboard/earnings', 'dashboard-earnings'),
  request('GET /address/info', 'address-info'),
  request('GET /deposit/records', 'deposit-records'),
  request('GET /deposit/get/{id}', 'deposit-get'),
  event('user.registered', 'intake-user-registered'),
  event('user.updated', 'intake-user-updated'),
  event('mail.requested', 'intake-mail-requested'),
  event('mail.delayed, needed', 'intake-mail-delayed'),
  event('mail.delayed, not needed', 'intake-mail-delayed', 1),
  event('client.registered', 'intake-client-registered'),
  event('wallet.adjusted, the first bill', 'intake-wallet-adjusted'),
  { ...event('wallet.adjusted, a further bill', 'intake-wallet-adjusted'), scenario: furtherBill },
  { ...event('wallet.adjusted, sent again', 'intake-wallet-adjusted', 1), scenario: repeatedEvent },
  { ...event('wallet.transferred', 'intake-wallet-transferred'), scenario: transfer },
  event('withdrawal.updated, cancelled', 'intake-withdrawal-updated'),
  event('withdrawal.updated, settled', 'intake-withdrawal-updated', 2),
  event('reward.granted', 'intake-reward-granted'),
  event('rates.published', 'intake-rates-published'),
  event('package.purchased', 'intake-package-purchased'),
  event('device.activated', 'intake-device-activated'),
  event('device.deactivated', 'intake-device-deactivated'),
  event('traffic.reported', 'intake-traffic-reported'),
  event('addresses.provisioned, two addresses', 'intake-addresses-provisioned'),
  event('address.assigned', 'intake-address-assigned'),
  event('deposit.updated, pending', 'intake-deposit-updated'),
  event('deposit.updated, confirmed', 'intake-deposit-updated', 1),
  granted('message')('grow-tree, two newcomers', 'worker-grow-tree'),
  {
    ...granted('run')('rotate-signing-keys, nothing due', 'rotate-signing-keys'),
    scenario: async ({ run }) => {
      await run({})
    },
  },
  {
    ...granted('run')('verify-ledger, nothing due', 'verify-ledger'),
    scenario: async ({ run }) => {
      await run({})
      await run({})
    },
    call: 1,
  },
]
