import { addToSums, readSum } from '../db/exact-sum.ts'
import { itemType } from '../db/item-type.ts'
import type { Item, Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import type { Big } from '../money.ts'

const totals = itemType({
  pk: 'EARN#{userId}',
  sk: 'TOTAL',
  holds: 'a user’s rewards by type and currency, traffic, and number of active devices',
  found: 'by user',
})
const dayEarnings = itemType({
  pk: 'EARN#{userId}',
  sk: 'D#{day}',
  holds: 'what a user earned on a day, by currency',
  found: 'by user and range of days',
})

/** Key of the item with a user's dashboard totals. */
export const totalsKey = (userId: number): Key => totals.key({ userId })

/** Key of the item with what a user earned on a day (yyyy-MM-dd). */
export const dayKey = (userId: number, day: string): Key => dayEarnings.key({ userId, day })

/** The day (yyyy-MM-dd) that an item of daily earnings is about. */
export const dayOfItem = (item: Item): string => String(item['sk']).slice(dayEarnings.sortKeyPrefix.length)

// Attribute names of dashboard sums. A prefix is followed by a currency, or by a currency, `#` and a reward
// type.
const networkRewards = 'network_rewards'
const trafficBytes = 'traffic_bytes'
const activeDevices = 'devices'
const earnedPrefix = 'E#'
const rewardPrefix = 'R#'

/** The write that adds a reward to a user's totals; `converted` is its worth in the reward currency. */
export const addRewardToTotals = (
  userId: number,
  reward: { rewardType: string; currency: string; amount: Big; converted: Big | undefined },
): Write =>
  addToSums(
    totalsKey(userId),
    new Map([
      [`${rewardPrefix}${reward.currency}#${reward.rewardType}`, reward.amount],
      ...(reward.converted === undefined ? [] : [[networkRewards, reward.converted] as const]),
    ]),
  )

/** The write that adds a reward to the day (yyyy-MM-dd) on which it was earned. */
export const addRewardToDay = (
  userId: number,
  day: string,
  { currency, amount }: { currency: string; amount: Big },
): Write => addToSums(dayKey(userId, day), new Map([[earnedPrefix + currency, amount]]))

/** The write that adds bytes to a user's traffic. */
export const addTraffic = (userId: number, bytes: Big): Write =>
  addToSums(totalsKey(userId), new Map([[trafficBytes, bytes]]))

/** The write that changes a user's number of active devices by `change`. */
export const addActiveDevices = (userId: number, change: number): Write =>
  addToSums(totalsKey(userId), new Map(), new Map([[activeDevices, change]]))

/** The sum of a user's rewards of one type in one currency. */
export interface RewardSum {
  rewardType: string
  currency: string
  amount: Big
}

/** Reads the reward sums from a user's totals, ordered by type, then by currency. */
export const rewardSums = (totals: Item | undefined): RewardSum[] =>
  sumNames(totals, rewardPrefix)
    .map((name) => {
      const [currency = '', ...type] = name.slice(rewardPrefix.length).split('#')
      return { rewardType: type.join('#'), currency, amount: readSum(totals, name) }
    })
    .sort((a, b) => compare(a.rewardType, b.rewardType) || compare(a.currency, b.currency))

/** Reads what a user earned from the item of a day, ordered by currency. */
export const daySums = (day: Item | undefined): { currency: string; amount: Big }[] =>
  sumNames(day, earnedPrefix)
    .map((name) => ({ currency: name.slice(earnedPrefix.length), amount: readSum(day, name) }))
    .sort((a, b) => compare(a.currency, b.currency))

/** Reads the sum of all rewards, in the reward currency, from a user's totals. */
export const networkRewardsOf = (totals: Item | undefined): Big => readSum(totals, networkRewards)

/** Reads the traffic, in bytes, from a user's totals. */
export const trafficBytesOf = (totals: Item | undefined): Big => readSum(totals, trafficBytes)

/** Reads the number of active devices from a user's totals. */
export const activeDevicesOf = (totals: Item | undefined): number =>
  Number(readSum(totals, activeDevices).toFixed())

/**
 * The attribute names of an item that begin with a prefix. Every addition writes the whole part of a sum, so
 * that attribute always exists.
 */
const sumNames = (item: Item | undefined, prefix: string): string[] =>
  Object.keys(item ?? {}).filter((name) => name.startsWith(prefix))

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
