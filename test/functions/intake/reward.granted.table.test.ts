import { randomInt, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { handler as ratesPublished } from '../../../functions/intake/rates.published.ts'
import { handler } from '../../../functions/intake/reward.granted.ts'
import { readNetworkRewards, readOverview } from '../../../shared/dashboard/overview.ts'
import { totals } from '../../../shared/dashboard/sums.ts'
import { writeItem } from '../../../shared/db/write.ts'
import { settings } from '../../../shared/settings.ts'
import { deliver, refusedAs } from '../../support/deliver.ts'
import { addUser, readAllBills } from '../../support/ledger.ts'

const reward = (userId: number, rewardType: unknown, amount = '1') => ({
  reward_id: randomUUID(),
  user_id: userId,
  reward_type: rewardType,
  currency: 'USDT',
  amount,
  earned_on: '2024-11-21',
})

const sumsOf = async (userId: number) =>
  Object.fromEntries(
    (await readNetworkRewards(userId)).map(({ reward_type, currency, amount }) => [
      `${currency} ${reward_type}`,
      amount.toFixed(),
    ]),
  )

describe('a reward', () => {
  it('a reward of any type is summed under exactly that type', async () => {
    const types = [
      'NODE',
      'node',
      'Team bonus, level 2',
      '#',
      'NODE#',
      '~NODE',
      'R#USDT#NODE',
      '~R#USDT#NODE',
      'network_rewards',
      '__proto__',
      'constructor',
      'a.b[0] :c #d',
      '推荐奖励',
      '𝒳'.repeat(64),
    ]
    const userId = await addUser()
    for (const [i, type] of types.entries()) {
      expect(await deliver(handler, reward(userId, type, `${i + 1}.5`)), type).toBe('done')
      expect(await deliver(handler, reward(userId, type, '0.000000000000000001')), type).toBe('done')
    }
    expect(await sumsOf(userId)).toEqual(
      Object.fromEntries(types.map((type, i) => [`USDT ${type}`, `${i + 1}.500000000000000001`])),
    )
    expect((await readAllBills(userId, 'reward')).length).toBe(2 * types.length)
  })

  it.each(['', 'x'.repeat(65), 'a\u200bb', 'a\u202eb', 'a\tb', 'e\u0301', 7, null])(
    'a reward of the invalid type %j is refused',
    async (type) => {
      const userId = await addUser()
      expect(await deliver(handler, reward(userId, type))).toEqual(refusedAs('invalid_detail: reward_type'))
      expect(await sumsOf(userId)).toEqual({})
      expect(await readAllBills(userId, 'reward')).toEqual([])
    },
  )
})

it('a user with rewards in 500 pairs of type and currency gets no reward in a new pair', async () => {
  const userId = await addUser()
  const before = {
    UpdateExpression: 'SET reward_types = :types',
    ExpressionAttributeValues: { ':types': 499 },
  }
  await writeItem({ Update: { Key: totals.key({ userId }), ...before } })
  expect(await deliver(handler, reward(userId, 'type 7'))).toBe('done')
  const another = reward(userId, 'one more')
  const refused = refusedAs('too_many_reward_types')
  expect(await Promise.all([deliver(handler, another), deliver(handler, reward(userId, 'type 7'))])).toEqual([
    refused,
    'done',
  ])
  expect(Object.keys(await sumsOf(userId))).toEqual(['USDT type 7'])
  expect((await readOverview(userId)).network_rewards.toFixed()).toBe('2')
})

it('two rewards at the same time are both added to the sum, even as the first of their type', async () => {
  const userId = await addUser()
  const two = [reward(userId, 'NODE'), reward(userId, 'NODE')]
  expect(await Promise.all(two.map(async (event) => deliver(handler, event)))).toEqual(['done', 'done'])
  expect(await sumsOf(userId)).toEqual({ 'USDT NODE': '2' })
})

describe('the worth of a reward in the reward currency', () => {
  const most = '99999999999999999999.999999999999999999'
  const { quoteCurrency, rewardCurrency } = settings()

  beforeAll(async () => {
    // Uses its own quote currency: another test's rates in the same currency would replace these rates.
    const quote = `Q${randomInt(2 ** 40)}`
    Object.assign(settings(), { quoteCurrency: quote, rewardCurrency: 'EUR' })
    const rates = {
      EUR: '1.25',
      BTC: '50000',
      JPY: '0.01',
      HALF: '0.625',
      MOST: most,
      FINE: '0.999999999999999999',
    }
    await deliver(ratesPublished, { quote, as_of: Date.now(), rates })
  })
  afterAll(() => void Object.assign(settings(), { quoteCurrency, rewardCurrency }))

  it.each([
    ['EUR', '2.000000000000000001', '2.000000000000000001'],
    ['BTC', '0.5', '20000'],
    ['JPY', '1000', '8'],
    ['QUOTE', '5', '4'],
    ['UNRATED', '7', '0'],
    // Rounded half to even.
    ['HALF', '0.000000000000000003', '0.000000000000000002'],
    ['HALF', '0.000000000000000005', '0.000000000000000002'],
  ])(
    'if rewards are shown in EUR but the quote currency is not EUR, a reward of %s %s counts as EUR %s',
    async (currency, amount, worth) => {
      const userId = await addUser()
      const code = currency === 'QUOTE' ? settings().quoteCurrency : currency
      expect(await deliver(handler, { ...reward(userId, 'NODE', amount), currency: code })).toBe('done')
      expect((await readOverview(userId)).network_rewards.toFixed()).toBe(worth)
      expect(await sumsOf(userId)).toEqual({ [`${code} NODE`]: amount })
    },
  )

  it('is summed to the last digit, however many digits it has', async () => {
    const userId = await addUser()
    for (const amount of [most, '0.000000000000000001'])
      expect(await deliver(handler, { ...reward(userId, 'NODE', amount), currency: 'MOST' })).toBe('done')
    expect((await readOverview(userId)).network_rewards.toFixed()).toBe(
      '7999999999999999999999999999999999999920',
    )
  })

  it('is exact in the quote currency, with all decimals of amount and rate', async () => {
    const userId = await addUser()
    Object.assign(settings(), { rewardCurrency: settings().quoteCurrency })
    for (const [currency, amount] of [
      ['MOST', most],
      ['FINE', '0.000000000000000001'],
      ['FINE', '0.000000000000000003'],
    ])
      expect(await deliver(handler, { ...reward(userId, 'NODE', amount), currency })).toBe('done')
    Object.assign(settings(), { rewardCurrency: 'EUR' })
    // The square of 10^20 - 10^-18, and 4 * 10^-18 * (1 - 10^-18).
    expect((await readOverview(userId)).network_rewards.toFixed()).toBe(
      '9999999999999999999999999999999999999800.000000000000000003999999999999999997',
    )
  })
})
