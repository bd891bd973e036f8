import { addToSums, readSum } from '../db/exact-sum.ts'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import type { Item } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import type { Big } from '../money.ts'
import { convert } from '../rates/rates.ts'
import { settings } from '../settings.ts'

/** A user's totals: traffic, number of active devices, number of reward types, and rewards by currency. */
export const totals = itemType({
  pk: 'EARN#{userId}',
  sk: 'TOTAL',
  holds: 'a user’s rewards by currency, traffic, and numbers of active devices and of reward types',
  found: 'by user',
})
/** What a user earned on a day (yyyy-MM-dd). */
export const dayEarnings = itemType({
  pk: 'EARN#{userId}',
  sk: 'D#{day}',
  holds: 'what a user earned on a day, by currency',
  found: 'by user and range of days',
})
/** A user's rewards of one type in one currency. */
export const typeRewards = itemType({
  pk: 'EARN#{userId}',
  sk: 'R#{currency}#{rewardType}',
  holds: 'a user’s rewards of one type in one currency',
  found: 'by user; by user, currency and type',
})

// Attribute names. The sum earned in a currency is stored under `earnedPrefix` + the currency.
const networkRewards = 'network_rewards'
const trafficBytes = 'traffic_bytes'
const activeDevices = 'devices'
const rewardTypes = 'reward_types'
const earnedPrefix = 'E#'
const rewarded = 'amount'

/** Maximum number of pairs of reward type and currency in which a user can have rewards. */
const maxRewardTypes = 500

/** The part of a reward's data that the dashboard counts. */
export interface Reward {
  userId: number
  rewardType: string
  currency: string
  amount: Big
  /** The day on which the reward was earned, yyyy-MM-dd. */
  earnedOn: string
}

/**
 * The writes that add a reward to the dashboard's sums, for the transaction that credits the reward. The
 * transaction fails with too_many_reward_types if the user would exceed `maxRewardTypes`. It fails with
 * ConditionFailed if another event has just added the first reward of this type and currency.
 */
export async function recordReward({ userId, earnedOn, ...reward }: Reward): Promise<Write[]> {
  const { currency, amount } = reward
  const typeKey = typeRewards.key({ userId, ...reward })
  const [converted, known] = await Promise.all([
    convert(amount, currency, settings().rewardCurrency),
    readItem(typeKey),
  ])
  const earned = { [earnedPrefix + currency]: amount }
  const all = { ...earned, ...(converted && { [networkRewards]: converted }) }
  const toType = addToSums(typeKey, { [rewarded]: amount })
  const toDay = addToSums(dayEarnings.key({ userId, day: earnedOn }), earned)
  if (known !== undefined) return [addToSums(totals.key({ userId }), all), toType, toDay]
  const { Update } = addToSums(totals.key({ userId }), { ...all, [rewardTypes]: 1 })
  return [
    {
      Update: {
        ...Update,
        ConditionExpression: 'attribute_not_exists(#types) OR #types < :maxTypes',
        ExpressionAttributeNames: { ...Update.ExpressionAttributeNames, '#types': rewardTypes },
        ExpressionAttributeValues: { ...Update.ExpressionAttributeValues, ':maxTypes': maxRewardTypes },
      },
      otherwise: () => new RejectedEvent('too_many_reward_types'),
    },
    { Update: { ...toType.Update, ConditionExpression: 'attribute_not_exists(pk)' } },
    toDay,
  ]
}

/** The write that adds bytes to a user's traffic. */
export const addTraffic = (userId: number, bytes: Big): Write =>
  addToSums(totals.key({ userId }), { [trafficBytes]: bytes })

/** The write that changes a user's number of active devices by `change`. */
export const addActiveDevices = (userId: number, change: number): Write =>
  addToSums(totals.key({ userId }), { [activeDevices]: change })

/** Lists what a user earned in each currency, on one day or in total. The list is sorted by currency. */
export const earnedSums = (item: Item = {}): { currency: string; amount: Big }[] =>
  // Leaves out the attributes that hold other parts of sums. Their names begin with `~` or `^`.
  Object.keys(item)
    .filter((name) => name.startsWith(earnedPrefix))
    .sort()
    .map((name) => ({ currency: name.slice(earnedPrefix.length), amount: readSum(item, name) }))

/** Reads a user's totals: rewards in the reward currency, traffic in bytes, and number of active devices. */
export const readTotals = (item: Item | undefined) => ({
  networkRewards: readSum(item, networkRewards),
  trafficBytes: readSum(item, trafficBytes),
  devices: Number(readSum(item, activeDevices).toFixed()),
})

/** Parses the item that sums up a user's rewards of one type in one currency. */
export function readTypeReward(item: Item) {
  const [currency = '', ...type] = String(item['sk']).slice(typeRewards.sortKeyPrefix.length).split('#')
  return { reward_type: type.join('#'), currency, amount: readSum(item, rewarded) }
}
