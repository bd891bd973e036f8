import { randomUUID } from 'node:crypto'
import { handler as deviceActivated } from '../../../functions/intake/device.activated.ts'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { createAccessToken } from '../../support/community.ts'
import { deliver } from '../../support/deliver.ts'
import { addDepositor, deposit, newPool, provision } from '../../support/deposits.ts'
import { addUser, adjustment } from '../../support/ledger.ts'
import { createUser, md5, newRegistration } from '../../support/sign-in.ts'
import { newFamily } from './family.ts'
import type { Calls, Scenario } from './calls.ts'
import { grant } from './events.ts'

/** Delivers an invalid event, which an intake function must send to its dead-letter queue. */
const deliverInvalid = ({ deliver: send }: Calls): Promise<void> => send({})

/** Scenarios with valid events, by intake function; an invalid event is added to each below. */
const validEvents: Record<string, Scenario> = {
  'user-registered': async (calls) => {
    const { parent } = await newFamily()
    await calls.deliver(newRegistration({ referrer_id: parent }))
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
    // An update older than the current values, which changes nothing.
    await calls.deliver({ update_id: randomUUID(), user_id: userId, at: 1, nickname: 'an earlier one' })
    await createAccessToken(userId, ['openid'])
    await calls.deliver({ update_id: randomUUID(), user_id: userId, at: Date.now() + 1, disabled: true })
  },
  'mail-requested': (calls) =>
    calls.deliver({
      mail_id: randomUUID(),
      kind: 'code',
      to: 'somebody@example.com',
      code: '123456',
      expires_at: Date.now() + 600_000,
    }),
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
  },
  'wallet-transferred': async (calls) => {
    const userId = await addUser()
    await deliver(walletAdjusted, adjustment(userId))
    await calls.deliver({
      transfer_id: randomUUID(),
      user_id: userId,
      from: 'asset',
      to: 'reward',
      currency: 'USDT',
      amount: '1',
      at: Date.now(),
    })
  },
  'withdrawal-updated': async (calls) => {
    const withdrawal = { user_id: await addUser(), currency: 'USDT', amount: '1', at: Date.now() }
    await calls.deliver({ ...withdrawal, withdrawal_id: randomUUID(), status: 'cancelled' })
    await deliver(walletAdjusted, adjustment(withdrawal.user_id))
    await calls.deliver({ ...withdrawal, withdrawal_id: randomUUID(), status: 'requested' })
  },
  'reward-granted': async (calls) => {
    await calls.deliver(grant(await addUser()))
  },
  'rates-published': (calls) => calls.deliver({ quote: 'USDT', as_of: Date.now(), rates: { BTC: '100000' } }),
  'package-purchased': async (calls) => {
    const { child } = await newFamily()
    await deliver(walletAdjusted, adjustment(child))
    await calls.deliver({
      purchase_id: randomUUID(),
      user_id: child,
      amount: '1',
      at: Date.now(),
      payment: { wallet: 'asset', currency: 'USDT', amount: '1' },
    })
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
  'addresses-provisioned': (calls) => calls.deliver(provision(newPool(), 2)),
  'deposit-updated': async (calls) => {
    const { address } = await addDepositor()
    const detail = deposit(address, { status: 'pending' })
    await calls.deliver(detail)
    await calls.deliver({ ...detail, status: 'confirmed' })
  },
}

/** The grant scenarios of the intake functions, by function name. */
export const eventScenarios: Record<string, Scenario> = Object.fromEntries(
  Object.entries(validEvents).map(([name, scenario]): [string, Scenario] => [
    `intake-${name}`,
    async (calls) => {
      await scenario(calls)
      await deliverInvalid(calls)
    },
  ]),
)
