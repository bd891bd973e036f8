import { randomInt, randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { readWallet } from '../../shared/ledger/wallet.ts'
import { claimAddress } from '../../shared/deposits/user-address.ts'
import { eventually } from '../support/call-stack.ts'
import { newPool, provision } from '../support/deposits.ts'
import { adjustment, balanceOf, describeWallet } from '../support/ledger.ts'
import { useLocalStack } from '../support/local-stack.ts'
import { drawMoneyHistory } from '../support/money-history.ts'
import { putEvents } from '../support/put-event.ts'
import { patience, stackQuirks } from '../support/quirks.ts'

/** With the quirks of AWS, messages come late and twice. Two hundred histories take seven minutes there. */
const histories = Number(process.env['HISTORIES'] ?? (stackQuirks === undefined ? 3 : 40))
const historiesTogether = 10
const eventsEach = stackQuirks === undefined ? 15 : 30
const pool = newPool()

beforeAll(async () => {
  await putEvents('addresses.provisioned', [provision(pool, histories + 10)])
  await eventually(() => claimAddress(randomInt(1, 2 ** 47), pool))
})

const polling = { timeout: patience(25_000), interval: 250 }

const registration = (userId: number) => ({
  user_id: userId,
  email: `${userId}@example.com`,
  nickname: 'Ann',
  registered_at: Date.now(),
})

const holdingsOf = async (userId: number) => {
  const read = async (wallet: 'asset' | 'reward') =>
    describeWallet(await readWallet({ userId, wallet }, { consistent: true })).holdings['USDT'] ?? '0 0 0 0'
  return { asset: await read('asset'), reward: await read('reward') }
}

async function deadLettersOf(userIds: readonly number[]): Promise<unknown[]> {
  const { base_url: baseUrl } = await useLocalStack()
  const answer = await fetch(`${baseUrl}/_local/queues`)
  const { dead_letters: letters } = (await answer.json()) as { dead_letters: { body: string }[] }
  return letters.filter(({ body }) => userIds.some((userId) => body.includes(`"user_id":${userId},`)))
}

it(
  `${histories} histories of ${eventsEach} events about money, each put on its own, end as if in order`,
  async () => {
    for (let from = 0; from < histories; from += historiesTogether) {
      const seeds = Array.from({ length: Math.min(historiesTogether, histories - from) }, (_, i) => from + i)
      const users = await Promise.all(
        seeds.map(async (seed) => {
          const userId = randomInt(1, 2 ** 47)
          const address = await claimAddress(userId, pool)
          return { userId, ...drawMoneyHistory(seed, eventsEach, { userId, address }) }
        }),
      )
      await Promise.all(
        users.map(async ({ userId, events }) => {
          // Each event is a call of its own, sent without waiting for the answer to the one before.
          const calls = [{ detailType: 'user.registered', detail: registration(userId) }, ...events].map(
            ({ detailType, detail }) => putEvents(detailType, [detail]),
          )
          await Promise.all(calls)
        }),
      )
      const userIds = users.map(({ userId }) => userId)
      await expect
        .poll(() => Promise.all(userIds.map(holdingsOf)), polling)
        .toEqual(users.map(({ holdings }) => holdings))
      expect(await deadLettersOf(userIds)).toEqual([])
    }
  },
  histories * 20_000,
)

// Each is put on its own.
it(
  'eleven transfers, each covered by the one before, are all applied within seconds',
  async () => {
    const userId = randomInt(1, 2 ** 47)
    await putEvents('user.registered', [registration(userId)])
    await putEvents('wallet.adjusted', [adjustment(userId, { amount: '8' })])
    const transfers = Array.from({ length: 11 }, (_, i) => ({
      transfer_id: randomUUID(),
      user_id: userId,
      from: i % 2 === 0 ? 'asset' : 'reward',
      to: i % 2 === 0 ? 'reward' : 'asset',
      currency: 'USDT',
      amount: '8',
      at: Date.now(),
    }))
    await Promise.all(transfers.reverse().map((transfer) => putEvents('wallet.transferred', [transfer])))
    const held = { asset: '0 0 0 0', reward: '8 0 0 0' }
    await expect.poll(() => holdingsOf(userId), polling).toEqual(held)
    const counted = async () => (await readWallet({ userId, wallet: 'asset' })).counts
    await expect
      .poll(async () => [...(await counted()).values()].reduce((sum, count) => sum + count, 0), polling)
      .toBe(12)
  },
  patience(60_000),
)

it(
  'a purchase that is paid from a reward of the same call is applied',
  async () => {
    const userId = randomInt(1, 2 ** 47)
    await putEvents('user.registered', [registration(userId)])
    const payment = { wallet: 'reward', currency: 'USDT', amount: '3' }
    const purchase = { purchase_id: randomUUID(), user_id: userId, amount: '3', at: Date.now(), payment }
    const reward = { reward_id: randomUUID(), user_id: userId, currency: 'USDT', amount: '5' }
    await Promise.all([
      putEvents('package.purchased', [purchase]),
      putEvents('reward.granted', [{ ...reward, reward_type: 'referral', earned_on: '2026-01-01' }]),
    ])
    await expect.poll(async () => (await holdingsOf(userId)).reward, polling).toBe('2 0 0 0')
    expect(await balanceOf(userId)).toBeUndefined()
  },
  patience(60_000),
)
