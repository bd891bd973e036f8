import { randomUUID } from 'node:crypto'
import { handler as addressesProvisioned } from '../../../functions/intake/addresses.provisioned.ts'
import { handler as deviceActivated } from '../../../functions/intake/device.activated.ts'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { createAccessToken } from '../../support/community.ts'
import { deliver } from '../../support/deliver.ts'
import { addDepositor, assignment, deposit, newPool, provision } from '../../support/deposits.ts'
import { addBills, addUser, adjustment, chunkOfBills } from '../../support/ledger.ts'
import { transact } from '../../../shared/db/write.ts'
import { addressDigest, putAddress } from '../../../shared/deposits/address.ts'
import type { WalletName } from '../../../shared/ledger/wallet.ts'
import { addLoginTicket, delayedMail } from '../../support/login-tickets.ts'
import { createUser, md5, newRegistration, newUserId } from '../../support/sign-in.ts'
import { events } from '../../../infra/events.ts'
import { eventName } from '../../../infra/names.ts'
import { newFamily } from './family.ts'
import type { Calls, Scenario } from './calls.ts'
import { grant } from './events.ts'

/** Delivers an invalid event, which an intake function must send to its dead-letter queue. */
const deliverInvalid = ({ deliver: send }: Calls): Promise<void> => send({})

/** Adds a wallet with so many bills that the next bill makes the function write to the bill index. */
const addLongWallet = (userId: number, wallet: WalletName = 'asset') =>
  addBills({ userId, wallet }, chunkOfBills, { close: false })

/** Scenarios with valid events, keyed by intake function. `eventScenarios` adds an invalid event to each. */
const validEvents: Record<string, Scenario> = {
  'user-registered': async (calls) => {
    const { parent } = await newFamily()
    await calls.deliver(newRegistration({ referrer_id: parent }))
    await calls.deliver(newRegistration({ referrer_id: newUserId() }))
  },
  'user-updated': async (calls) => {
    const { userId } = await createUser()
    await calls.deliver({
      update_id: randomUUID(),
      user_id: userId,
      at: Date.now(),
      nickname: 'another',
      email: `another-${userId}@example.com`,
      login_password: md5('another'),
      totp_secret: newRegistration()['totp_secret'],
    })
    // The function ignores an update that is older than the user's present values.
    await calls.deliver({
      update_id: randomUUID(),
      user_id: userId,
      at: 1_700_000_000_000,
      nickname: 'an earlier one',
    })
    await createAccessToken(userId, ['openid'])
    await calls.deliver({ update_id: randomUUID(), user_id: userId, at: Date.now() + 1, disabled: true })
    await calls.deliver({ update_id: randomUUID(), user_id: newUserId(), at: Date.now(), passkey: true })
    // The user has a referrer, so the function must also update member lists.
    const { child } = await newFamily()
    await calls.deliver({ update_id: randomUUID(), user_id: child, at: Date.now(), nickname: 'another' })
  },
  'mail-requested': async (calls) => {
    const mail = { kind: 'code', to: 'somebody@example.com', code: '123456' }
    await calls.deliver({ ...mail, mail_id: randomUUID(), expires_at: Date.now() + 600_000 })
    await calls.deliver({ ...mail, mail_id: randomUUID(), expires_at: Date.now() - 1 })
  },
  'mail-delayed': async (calls) => {
    const user = await createUser()
    const mail = delayedMail(user, await addLoginTicket(user, '123456'))
    await calls.deliver(mail)
    await calls.deliver({ ...mail, mail_id: randomUUID(), ticket_hash: 'of another' })
    await calls.deliver({ ...mail, mail_id: randomUUID(), expires_at: Date.now() - 1 })
  },
  'client-registered': (calls) =>
    calls.deliver({
      client_id: randomUUID(),
      updated_at: Date.now(),
      name: 'a client',
      secret: 'a client secret of 34 characters!!',
      redirect_uris: ['https://client.example/callback'],
      scopes: ['openid'],
    }),
  'wallet-adjusted': async (calls) => {
    await calls.deliver(adjustment(await addUser()))
    const userId = await addUser()
    await addLongWallet(userId)
    await calls.deliver(adjustment(userId))
    await calls.deliver(adjustment(userId, { direction: 2, amount: '1000' }))
  },
  'wallet-transferred': async (calls) => {
    const userId = await addUser()
    await addLongWallet(userId)
    const transfer = { user_id: userId, from: 'asset', to: 'reward', currency: 'USDT', at: Date.now() }
    await calls.deliver({ ...transfer, transfer_id: randomUUID(), amount: '1' })
    await calls.deliver({ ...transfer, transfer_id: randomUUID(), amount: '1000' })
  },
  'withdrawal-updated': async (calls) => {
    const userId = await addUser()
    await addLongWallet(userId)
    const withdrawal = { user_id: userId, currency: 'USDT', amount: '1', at: Date.now() }
    const requested = { ...withdrawal, withdrawal_id: randomUUID() }
    await calls.deliver({ ...requested, status: 'requested' })
    await calls.deliver({ ...requested, status: 'settled', fee: '0.1' })
    // A withdrawal of a user without a wallet is refused.
    const poor = { ...withdrawal, user_id: await addUser() }
    await calls.deliver({ ...poor, withdrawal_id: randomUUID(), status: 'cancelled' })
    await calls.deliver({ ...poor, withdrawal_id: randomUUID(), status: 'requested' })
  },
  'reward-granted': async (calls) => {
    const userId = await addUser()
    await calls.deliver(grant(userId))
    const richUser = await addUser()
    await addLongWallet(richUser, 'reward')
    // This reward is in BTC, so the function reads the rates to convert it into the reward currency.
    await calls.deliver({ ...grant(richUser), currency: 'BTC' })
    await deliver(walletAdjusted, adjustment(userId, { wallet: 'reward', amount: '9'.repeat(20) }))
    await calls.deliver({ ...grant(userId), amount: `0.${'9'.repeat(18)}` })
  },
  'rates-published': (calls) => calls.deliver({ quote: 'USDT', as_of: Date.now(), rates: { BTC: '100000' } }),
  'package-purchased': async (calls) => {
    const { child } = await newFamily()
    await addLongWallet(child)
    const purchase = { user_id: child, amount: '1', at: Date.now() }
    const pay = (amount: string) => ({ payment: { wallet: 'asset', currency: 'USDT', amount } })
    await calls.deliver({ ...purchase, ...pay('1'), purchase_id: randomUUID() })
    await calls.deliver({ ...purchase, ...pay('1000'), purchase_id: randomUUID() })
    const unpaid = { wallet: 'reward', currency: 'USDT', amount: '1' }
    await calls.deliver({ ...purchase, payment: unpaid, purchase_id: randomUUID() })
  },
  'device-activated': async (calls) => {
    await calls.deliver({ device_id: randomUUID(), user_id: await addUser(), at: Date.now() })
  },
  'device-deactivated': async (calls) => {
    const device = { device_id: randomUUID(), user_id: await addUser() }
    await deliver(deviceActivated, { ...device, at: Date.now() - 1000 })
    await calls.deliver({ ...device, at: Date.now() })
  },
  'traffic-reported': async (calls) => {
    await calls.deliver({
      report_id: randomUUID(),
      user_id: await addUser(),
      device_id: randomUUID(),
      bytes: 1000,
      at: Date.now(),
    })
  },
  'addresses-provisioned': async (calls) => {
    const pool = newPool()
    await calls.deliver(provision(pool, 2))
    // One address of this batch was written before another batch took the other one, so it is taken back.
    const { addresses, ...batch } = provision(pool, 2)
    const [written = { address: '' }, taken] = addresses
    const digest = addressDigest({ network: pool.network, ...written })
    await transact([putAddress(digest, { ...batch, ...written })])
    await deliver(addressesProvisioned, provision(pool, 0, { addresses: [taken] }))
    await calls.deliver({ ...batch, addresses })
  },
  'address-assigned': async (calls) => {
    const pool = newPool()
    const batch = provision(pool, 1)
    await deliver(addressesProvisioned, batch)
    const address = batch.addresses[0]?.address ?? ''
    await calls.deliver(assignment(pool, address, await addUser(), Date.now()))
    // The address already belongs to another user, so this assignment is refused.
    await calls.deliver(assignment(pool, address, await addUser(), Date.now()))
  },
  'deposit-updated': async (calls) => {
    const { address } = await addDepositor()
    const detail = deposit(address, { status: 'pending' })
    await calls.deliver(detail)
    await calls.deliver({ ...detail, status: 'confirmed' })
    await calls.deliver({ ...detail, output_index: 1, address: '0xnobody' })
    const other = await addDepositor()
    await addLongWallet(other.userId)
    await calls.deliver(deposit(other.address, { status: 'confirmed' }))
  },
}

/** For each intake function, a scenario that uses all its IAM grants. */
export const eventScenarios: Record<string, Scenario> = Object.fromEntries(
  events.flatMap(({ detailType, senders: [source] }): [string, Scenario][] => {
    const scenario = validEvents[eventName(detailType)]
    if (scenario === undefined) return []
    const withInvalid: Scenario = async (all) => {
      // The source decides whether the function tells the outcome.
      const deliverFrom = (detail: object) =>
        all.deliverMessage({ id: randomUUID(), 'detail-type': detailType, source, detail })
      const calls = { ...all, deliver: deliverFrom }
      await scenario(calls)
      await deliverInvalid(calls)
    }
    return [[`intake-${eventName(detailType)}`, withInvalid]]
  }),
)
