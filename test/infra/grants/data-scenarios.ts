import { randomUUID } from 'node:crypto'
import { handler as addressesProvisioned } from '../../../functions/intake/addresses.provisioned.ts'
import { handler as depositUpdated } from '../../../functions/intake/deposit.updated.ts'
import { handler as rewardGranted } from '../../../functions/intake/reward.granted.ts'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as withdrawalUpdated } from '../../../functions/intake/withdrawal.updated.ts'
import { claimAddress } from '../../../shared/deposits/user-address.ts'
import { depositId } from '../../../shared/deposits/deposit.ts'
import { deliver } from '../../support/deliver.ts'
import { deposit, newPool, provision } from '../../support/deposits.ts'
import type { WalletName } from '../../../shared/ledger/wallet.ts'
import { addBills, adjustment, chunkOfBills } from '../../support/ledger.ts'
import { createSession } from '../../support/oauth-clients.ts'
import type { Scenario } from './calls.ts'
import { grant } from './events.ts'
import { newFamily } from './family.ts'

const page = { current: '1', size: '20' }
const today = () => new Date().toISOString().slice(0, 10)

/** A scenario that sends one request, with an access_token and without parameters. */
const readOwn: Scenario = async ({ request }) => {
  const { accessToken } = await createSession()
  await request({ token: accessToken })
}

const readBills =
  (wallet: WalletName): Scenario =>
  async ({ request }) => {
    const { accessToken, userId } = await createSession()
    await addBills({ userId, wallet }, chunkOfBills)
    await request({ token: accessToken, query: page })
    await request({ token: accessToken, query: { ...page, currency: 'BTC', beginTime: '2026-03-02' } })
    await request({ token: accessToken, query: { ...page, currency: 'BTC' } })
  }

const exportBills =
  (wallet: WalletName): Scenario =>
  async ({ request }) => {
    const { accessToken, userId } = await createSession()
    await addBills({ userId, wallet }, chunkOfBills)
    await request({ token: accessToken })
    await request({ token: accessToken, query: { currency: 'BTC' } })
  }

const readMembers =
  (query: Record<string, string>): Scenario =>
  async ({ request }) => {
    const { token } = await newFamily()
    await request({ token, query: { ...query, type: 'DIRECT' } })
    await request({ token, query: { ...query, type: 'COMMUNITY', keyword: 'a@b' } })
  }

async function newDepositor() {
  const { accessToken, userId } = await createSession()
  const pool = newPool()
  await deliver(addressesProvisioned, provision(pool, 1))
  return { accessToken, address: await claimAddress(userId, pool) }
}

async function newWithdrawal() {
  const { accessToken, userId } = await createSession()
  await deliver(walletAdjusted, adjustment(userId))
  const id = randomUUID()
  const requested = { currency: 'USDT', amount: '1', status: 'requested', at: Date.now() }
  await deliver(withdrawalUpdated, { withdrawal_id: id, user_id: userId, ...requested })
  return { accessToken, id }
}

/** For each endpoint that handles a user's own data, a scenario that uses all IAM grants of the endpoint. */
export const dataScenarios: Record<string, Scenario> = {
  'account-info': readOwn,
  'account-asset': readOwn,
  'account-bills': readBills('asset'),
  'account-export': exportBills('asset'),
  'bonus-account-info': readOwn,
  'bonus-account-asset': readOwn,
  'bonus-account-bills': readBills('reward'),
  'bonus-account-export': exportBills('reward'),
  'community-members': readMembers(page),
  'community-export': readMembers({}),
  'community-note': async ({ request }) => {
    const { child, token } = await newFamily()
    await request({ token, json: { target_user_id: child, note: 'a note' } })
    await request({ token, json: { target_user_id: child, note: '' } })
  },
  'dashboard-overview': readOwn,
  'dashboard-network-rewards': readOwn,
  'dashboard-earnings': async ({ request }) => {
    const { accessToken, userId } = await createSession()
    await deliver(rewardGranted, grant(userId))
    await request({ token: accessToken, query: { beginDate: today(), endDate: today() } })
  },
  'address-info': async ({ request }) => {
    const { accessToken } = await createSession()
    const pool = newPool()
    await deliver(addressesProvisioned, provision(pool, 1))
    await request({
      token: accessToken,
      query: { currency: pool.currency, currencyNetWork: pool.network },
    })
    const unknown = newPool()
    await request({
      token: accessToken,
      query: { currency: unknown.currency, currencyNetWork: unknown.network },
      expect: 400,
    })
  },
  'withdrawal-records': async ({ request }) => {
    const { accessToken } = await newWithdrawal()
    await request({ token: accessToken, query: page })
    await request({ token: accessToken, query: { ...page, beginTime: '2026-01-01' } })
  },
  'withdrawal-get': async ({ request }) => {
    const { accessToken, id } = await newWithdrawal()
    await request({ token: accessToken, path: { id } })
  },
  'deposit-records': async ({ request }) => {
    const { accessToken, address } = await newDepositor()
    await deliver(depositUpdated, deposit(address))
    await request({ token: accessToken, query: page })
    await request({ token: accessToken, query: { ...page, beginTime: '2026-01-01' } })
  },
  'deposit-get': async ({ request }) => {
    const { accessToken, address } = await newDepositor()
    const detail = deposit(address)
    await deliver(depositUpdated, detail)
    const id = depositId({
      network: detail.currency_network,
      txid: detail.txid,
      outputIndex: detail.output_index,
    })
    await request({ token: accessToken, path: { id } })
  },
}
