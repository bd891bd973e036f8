import { addToSums, readSum } from '../db/exact-sum.ts'
import { itemType } from '../db/item-type.ts'
import { queryItems } from '../db/read.ts'
import type { Item, Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import type { Big } from '../money.ts'

const totals = itemType({
  pk: 'EARN#{userId}',
  sk: 'TOTAL',
  holds: 'a user’s rewards by currency, traffic, and numbers of active devices and of reward types',
  found: 'by user',
})
const dayEarnings = itemType({
  pk: 'EARN#{userId}',
  sk: 'D#{day}',
  holds: 'what a user earned on a day, by currency',
  found: 'by user and range of days',
})

const typeRewards = itemType({
  pk: 'EARN#{userId}',
  sk: 'R#{currency}#{rewardType}',
  holds: 'a user’s rewards of one type in one currency',
  found: 'by user; by user, currency and type',
})

/** Key of the item with a user's dashboard totals. */
export const totalsKey = (userId: number): Key => totals.key({ userId })

/** Key of the item with what a user earned on a day (yyyy-MM-dd). */
export const dayKey = (userId: number, day: string): Key => dayEarnings.key({ userId, day })

/** The day (yyyy-MM-dd) that an item of daily earnings is about. */
export const dayOfItem = (item: Item): string => String(item['sk']).slice(dayEarnings.sortKeyPrefix.length)

/** Key of the item with a user's rewards of one type in one currency. */
export const typeKey = (userId: number, pair: { rewardType: string; currency: string }): Key =>
  typeRewards.key({ userId, ...pair })

// Attribute names of dashboard sums. The prefix is followed by a currency.
const networkRewards = 'network_rewards'
const trafficBytes = 'traffic_bytes'
const activeDevices = 'devices'
const rewardTypes = 'reward_types'
const earnedPrefix = 'E#'
const rewarded = 'amount'

/** Maximum number of pairs of reward type and currency that a user's rewards have. */
const maxRewardTypes = 500

interface NewReward {
  rewardType: string
  currency: string
  amount: Big
  /** Whether it is the user's first of its type and currency. */
  isFirst: boolean
}

/**
 * The write that adds a reward to a user's totals; `converted` is its worth in the reward currency. The first
 * of its type and currency is refused with too_many_reward_types if the user has as many as may be.
 */
export function addRewardToTotals(
  userId: number,
  { currency, amount, converted, isFirst }: NewReward & { converted: Big | undefined },
): Write {
  const sums = new Map([
    [earnedPrefix + currency, amount],
    ...(converted === undefined ? [] : [[networkRewards, converted] as const]),
  ])
  if (!isFirst) return addToSums(totalsKey(userId), sums)
  const { Update } = addToSums(totalsKey(userId), sums, new Map([[rewardTypes, 1]]))
  return {
    Update: {
      ...Update,
      ConditionExpression: 'attribute_not_exists(#types) OR #types < :maxTypes',
      ExpressionAttributeNames: { ...Update.ExpressionAttributeNames, '#types': rewardTypes },
      ExpressionAttributeValues: { ...Update.ExpressionAttributeValues, ':maxTypes': maxRewardTypes },
    },
    otherwise: () => new RejectedEvent('too_many_reward_types'),
  }
}

/** The write that adds a reward to those of its type and currency; a first one must be the first. */
export function addRewardToType(userId: number, { amount, isFirst, ...pair }: NewReward): Write {
  const { Update } = addToSums(typeKey(userId, pair), new Map([[rewarded, amount]]))
  return { Update: { ...Update, ...(isFirst && { ConditionExpression: 'attribute_not_exists(pk)' }) } }
}

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

/** Reads the sums of a user’s rewards, ordered by type, then by currency: at most maxRewardTypes. */
export async function readRewardSums(userId: number): Promise<RewardSum[]> {
  const sums: RewardSum[] = []
  const items = queryItems({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: {
      ':pk': typeRewards.partition({ userId }),
      ':prefix': typeRewards.sortKeyPrefix,
    },
  })
  for await (const item of items) {
    const [currency = '', ...type] = String(item['sk']).slice(typeRewards.sortKeyPrefix.length).split('#')
    sums.push({ rewardType: type.join('#'), currency, amount: readSum(item, rewarded) })
  }
  return sums.sort((a, b) => compare(a.rewardType, b.rewardType) || compare(a.currency, b.currency))
}

/** Reads what a user earned, from the item of a day or of all days, ordered by currency. */
export const earnedSums = (item: Item | undefined): { currency: string; amount: Big }[] =>
  sumNames(item, earnedPrefix)
    .map((name) => ({ currency: name.slice(earnedPrefix.length), amount: readSum(item, name) }))
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
