import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { scopes } from '../../../shared/tokens/scopes.ts'
import { createAccessToken, newUserIds } from '../../support/community.ts'
import { newPool, provision } from '../../support/deposits.ts'
import { putEvents } from '../../support/put-event.ts'
import { md5, newRegistration, type TestUser } from '../../support/sign-in.ts'
import { addressPath, get, settle } from './answers.ts'
import type { People } from './people.ts'

/** A user to whom something happens in a wave, and what later waves continue. */
interface Person extends TestUser {
  deposit: object
  withdrawal: object
  device: object
}

export type Town = ReturnType<typeof newTown>

/**
 * Users of one tree, to whom everything happens that the service knows, wave by wave: every kind of event, a
 * sign-in and a request for an address. A wave adds a member below the last one, and continues what the wave
 * before has begun.
 */
export function newTown(url: string, people: People) {
  const pool = newPool()
  const first = newUserIds()
  const clientId = `client-${randomUUID()}`
  const persons: Person[] = []

  const register = async (referrerId: number | undefined): Promise<TestUser> => {
    const detail = newRegistration({ user_id: first + persons.length, referrer_id: referrerId })
    await putEvents('user.registered', [detail])
    return {
      userId: Number(detail['user_id']),
      email: String(detail['email']),
      password: String(detail['login_password']),
      totpSecret: String(detail['totp_secret']),
    }
  }

  const publish = async (at: number) => {
    const client = { updated_at: at, name: `Client of ${at}`, redirect_uris: [], scopes: ['openid'] }
    await putEvents('client.registered', [
      { ...client, client_id: clientId, secret: md5(String(at)) },
      { ...client, client_id: `${clientId}-${at}` },
    ])
    const rates = { BTC: `${100_000 + persons.length}`, USDT: '1' }
    await putEvents('rates.published', [{ quote: 'USDT', as_of: at, rates }])
    await putEvents('addresses.provisioned', [provision(pool, 3)])
  }

  const askForAddress = async ({ userId }: TestUser): Promise<string> => {
    const token = await createAccessToken(userId, [...scopes])
    const answer = await get(url, token, addressPath(pool.network))
    return (answer as { data: { address: string } }).data.address
  }

  /** What needs no balance: credits, rewards, and new data of the wave's user and the one before. */
  const credit = async ({ userId }: TestUser, at: number) => {
    const credits = ['USDT', 'BTC'].map((currency) => ({
      adjustment_id: randomUUID(),
      user_id: userId,
      wallet: 'asset',
      direction: 1,
      currency,
      amount: '100.5',
      reason: 'a welcome',
      at,
    }))
    await putEvents('wallet.adjusted', credits)
    const today = new Date(at).toISOString().slice(0, 10)
    const reward = { user_id: userId, earned_on: today, currency: 'USDT', amount: '30.25' }
    await putEvents('reward.granted', [
      { ...reward, reward_id: randomUUID(), reward_type: 'NODE' },
      { ...reward, reward_id: randomUUID(), reward_type: 'TEAM' },
    ])
    const updates = persons.slice(-2).map(({ userId: id }) => ({
      update_id: randomUUID(),
      user_id: id,
      at,
      nickname: `Renamed ${persons.length}`,
      ...(id === userId ? { passkey: true } : { email: `Moved.${persons.length}.${id}@example.com` }),
    }))
    await putEvents('user.updated', updates)
  }

  /** What takes from balances, and what the wave before has begun. */
  const spend = async (person: Person, before: Person | undefined, at: number) => {
    const money = { user_id: person.userId, currency: 'USDT', at }
    const transfer = { ...money, transfer_id: randomUUID(), from: 'reward', to: 'asset', amount: '10' }
    await putEvents('wallet.transferred', [transfer])
    await putEvents('withdrawal.updated', [
      { ...person.withdrawal, status: 'requested' },
      ...(before ? [{ ...before.withdrawal, status: 'settled' }] : []),
    ])
    await putEvents('deposit.updated', [
      { ...person.deposit, status: 'pending', confirmations: 1 },
      ...(before ? [{ ...before.deposit, status: 'confirmed', confirmations: 12 }] : []),
    ])
    const payment = { wallet: 'asset', currency: 'USDT', amount: '20' }
    const purchase = { ...money, amount: '50' }
    await putEvents('package.purchased', [
      { ...purchase, purchase_id: randomUUID(), payment },
      { ...purchase, purchase_id: randomUUID() },
    ])
    await putEvents('device.activated', [{ ...person.device, at }])
    if (before) await putEvents('device.deactivated', [{ ...before.device, at }])
    const report = { ...person.device, report_id: randomUUID(), bytes: 5_000_000_000, at }
    await putEvents('traffic.reported', [report])
  }

  return {
    pool,
    persons,
    async wave(): Promise<void> {
      const before = persons.at(-1)
      const at = Date.now() - 1000
      const [user] = await Promise.all([register(before?.userId), publish(at)])
      await settle(url)
      const money = { user_id: user.userId, currency: 'USDT', amount: '3.5', at }
      const deposit = {
        currency_network: pool.network,
        currency: 'USDT',
        txid: randomUUID(),
        output_index: 0,
        address: await askForAddress(user),
        amount: '7.25',
        at,
      }
      const person = {
        ...user,
        deposit,
        withdrawal: { ...money, withdrawal_id: randomUUID() },
        device: { device_id: randomUUID(), user_id: user.userId },
      }
      persons.push(person)
      await credit(person, at)
      await settle(url)
      await spend(person, before, at)
      expect((await people.tryToSignIn(person)).status).toBe(200)
      await settle(url)
    },
  }
}
