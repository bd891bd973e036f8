import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { standardLimits } from '../../../shared/community/search/index/tail.ts'
import { notifyTreeQueue } from '../../../shared/community/growth/queue.ts'
import { scopes } from '../../../shared/tokens/scopes.ts'
import { claimEmail } from '../../../shared/users/user.ts'
import { createAccessToken, newUserIds } from '../../support/community.ts'
import { newPool, provision } from '../../support/deposits.ts'
import { addNewcomers } from '../../support/newcomers.ts'
import { putEvents } from '../../support/put-event.ts'
import { md5, newRegistration, toTestUser, type TestUser } from '../../support/sign-in.ts'
import { writeAll } from '../../support/torn-table.ts'
import { addressPath, get, settle } from './answers.ts'
import type { People } from './people.ts'

/** A user to whom something happens in a wave, and what the next wave continues. */
export interface Person extends TestUser {
  registration: object
  deposit: object
  withdrawal: object
  device: object
  /** When the wave says that it happens, epoch milliseconds. */
  at: number
}

/** Events of one kind. */
type Batch = readonly [detailType: string, details: readonly object[]]

/** The events of a wave, in their order. */
export interface Wave {
  publications: Batch[]
  /** What needs no balance: credits, rewards, and new data of the wave's user and the one before. */
  credits: Batch[]
  /** What takes from balances, and what the wave before has begun; given the address of each user. */
  spending: (addressOf: (userId: number) => string) => Batch[]
}

const waveCount = 3

export type TownPlan = ReturnType<typeof drawTown>
export type Town = ReturnType<typeof newTown>

/**
 * Draws users of one tree, to whom everything happens that the service knows, wave by wave, so that several
 * stacks can have the same: only addresses are not drawn, because each stack takes them from its pool.
 */
export function drawTown() {
  const pool = newPool()
  const first = newUserIds()
  const clientId = `client-${randomUUID()}`
  const drawnAt = Date.now() - 10_000
  const persons = Array.from({ length: waveCount }, (_, i) =>
    drawPerson(first + i, i === 0 ? undefined : first + i - 1, pool.network, drawnAt + i * 1_000),
  )
  // Joins the first user before the crowd, so that the search index has the member in a segment, and is
  // renamed there in the second wave.
  const neighbour = newRegistration({ user_id: first + waveCount, referrer_id: first })
  const rename = { update_id: randomUUID(), user_id: first + waveCount, at: drawnAt, nickname: 'Renamed' }
  const ofNeighbour: Batch[] = [
    ['user.registered', [neighbour]],
    ['user.updated', [rename]],
  ]
  const waves = persons.map((person, i): Wave => {
    const before = persons[i - 1]
    return {
      publications: [
        ...drawPublications(clientId, person.at, i),
        ['addresses.provisioned', [provision(pool, 3)]],
      ],
      credits: [...drawCredits(person, before, i + 1), ...ofNeighbour.slice(i, i + 1)],
      spending: drawSpending(person, before),
    }
  })
  return { pool, clientId, persons, neighbour: toTestUser(neighbour), waves }
}

function drawPerson(userId: number, referrerId: number | undefined, network: string, at: number): Person {
  const registration = newRegistration({ user_id: userId, referrer_id: referrerId })
  const money = { currency: 'USDT', at }
  return {
    ...toTestUser(registration),
    registration,
    deposit: { ...money, currency_network: network, txid: randomUUID(), output_index: 0, amount: '7.25' },
    withdrawal: { ...money, user_id: userId, amount: '3.5', withdrawal_id: randomUUID() },
    device: { device_id: randomUUID(), user_id: userId },
    at,
  }
}

const drawPublications = (clientId: string, at: number, number: number): Batch[] => {
  const client = { updated_at: at, name: `Client of ${at}`, redirect_uris: [], scopes: ['openid'] }
  const rates = { BTC: `${100_000 + number}`, USDT: '1' }
  return [
    [
      'client.registered',
      [
        { ...client, client_id: clientId, secret: md5(String(at)) },
        { ...client, client_id: `${clientId}-${at}` },
      ],
    ],
    ['rates.published', [{ quote: 'USDT', as_of: at, rates }]],
  ]
}

function drawCredits({ userId, at }: Person, before: Person | undefined, number: number): Batch[] {
  const credit = { user_id: userId, wallet: 'asset', direction: 1, amount: '100.5', reason: 'a welcome', at }
  const reward = {
    user_id: userId,
    earned_on: new Date(at).toISOString().slice(0, 10),
    currency: 'USDT',
    amount: '30.25',
  }
  const update = { at, nickname: `Renamed ${number}` }
  return [
    [
      'wallet.adjusted',
      ['USDT', 'BTC'].map((currency) => ({ ...credit, adjustment_id: randomUUID(), currency })),
    ],
    [
      'reward.granted',
      ['NODE', 'TEAM'].map((type) => ({ ...reward, reward_id: randomUUID(), reward_type: type })),
    ],
    [
      'user.updated',
      [
        ...(before
          ? [
              {
                ...update,
                update_id: randomUUID(),
                user_id: before.userId,
                email: `Moved.${number}.${before.userId}@example.com`,
              },
            ]
          : []),
        { ...update, update_id: randomUUID(), user_id: userId, passkey: true },
      ],
    ],
  ]
}

function drawSpending(person: Person, before: Person | undefined): Wave['spending'] {
  const { userId, at } = person
  const money = { user_id: userId, currency: 'USDT', at }
  const transfer = { ...money, transfer_id: randomUUID(), from: 'reward', to: 'asset', amount: '10' }
  const payment = { wallet: 'asset', currency: 'USDT', amount: '20' }
  const purchases = [{ payment }, {}].map((paid) => ({
    ...money,
    ...paid,
    amount: '50',
    purchase_id: randomUUID(),
  }))
  const report = { ...person.device, report_id: randomUUID(), bytes: 5_000_000_000, at }
  return (addressOf) => [
    ['wallet.transferred', [transfer]],
    [
      'withdrawal.updated',
      [
        { ...person.withdrawal, status: 'requested' },
        ...(before ? [{ ...before.withdrawal, status: 'settled' }] : []),
      ],
    ],
    [
      'deposit.updated',
      [
        { ...person.deposit, address: addressOf(userId), status: 'pending', confirmations: 1 },
        ...(before
          ? [
              {
                ...before.deposit,
                address: addressOf(before.userId),
                status: 'confirmed',
                confirmations: 12,
              },
            ]
          : []),
      ],
    ],
    ['package.purchased', purchases],
    ['device.activated', [{ ...person.device, at }]],
    ...(before ? [['device.deactivated', [{ ...before.device, at }]] as const] : []),
    ['traffic.reported', [report]],
  ]
}

/**
 * Opens a town on a stack: each wave brings the events of the plan, a sign-in and a request for an address.
 * It adds a member below the last one, the first wave a crowd, too, of whom a search goes by an index.
 */
export function newTown(url: string, people: People, { pool, persons, waves }: TownPlan) {
  const addresses = new Map<number, string>()

  const send = async (batches: readonly Batch[]) => {
    for (const [detailType, details] of batches) await putEvents(detailType, details)
  }

  const askForAddress = async (userId: number): Promise<string> => {
    const token = await createAccessToken(userId, [...scopes])
    const answer = await get(url, token, addressPath(pool.network))
    return (answer as { data: { address: string } }).data.address
  }

  return {
    pool,
    /** The users to whom something has happened. */
    persons: () => persons.slice(0, addresses.size),
    async wave(): Promise<void> {
      const { [addresses.size]: person = expect.unreachable() } = persons
      const { [addresses.size]: wave = expect.unreachable() } = waves
      const { userId, registration } = person
      await send([['user.registered', [registration]], ...wave.publications])
      await settle(url)
      const isFirst = addresses.size === 0
      addresses.set(userId, await askForAddress(userId))
      await send(wave.credits)
      await settle(url)
      if (isFirst) await addCrowd(userId)
      await send(wave.spending((owner) => addresses.get(owner) ?? expect.unreachable()))
      expect((await people.tryToSignIn(person)).status).toBe(200)
      await settle(url)
    },
  }
}

/** Adds so many direct referrals that their list has a search index; without events, which take minutes. */
async function addCrowd(rootId: number): Promise<void> {
  const lastId = rootId + 1_000
  const { minIndexed } = standardLimits
  await addNewcomers(lastId, minIndexed, rootId)
  const ids = Array.from({ length: minIndexed }, (_, i) => lastId + 1 + i)
  await writeAll(ids.map((userId) => claimEmail(`${userId}@example.com`, userId)))
  await notifyTreeQueue(rootId)
}
