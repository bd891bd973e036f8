import type Big from 'big.js'
import { addToSums, readSum } from '../db/exact-sum.ts'
import type { Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'

/** Key of what a user has earned, owns and used in all. */
export const totalsKey = (userId: number): Key => ({ pk: `EARN#${userId}`, sk: 'TOTAL' })

/** Key of what a user earned on a day. */
export const dayKey = (userId: number, day: string): Key => ({ pk: `EARN#${userId}`, sk: `D#${day}` })

/** The day of a day's item. */
export const dayOf = ({ sk }: { sk: string }): string => sk.slice('D#'.length)

const networkRewards = 'network_rewards'
const trafficBytes = 'traffic_bytes'
const devices = 'devices'
const earned = 'E#'
const rewarded = 'R#'

/** The write that counts a reward in a user's totals. `converted` is its worth in the reward currency, if that is known. */
export const addRewardToTotals = (
  userId: number,
  reward: { rewardType: string; currency: string; amount: Big; converted: Big | undefined },
): Write =>
  addToSums(
    totalsKey(userId),
    new Map([
      [`${rewarded}${reward.currency}#${reward.rewardType}`, reward.amount],
      ...(reward.converted === undefined ? [] : [[networkRewards, reward.converted] as const]),
    ]),
  )

/** The write that counts a reward on its day. */
export const addRewardToDay = (userId: number, day: string, currency: string, amount: Big): Write =>
  addToSums(dayKey(userId, day), new Map([[earned + currency, amount]]))

/** The write that adds to a user's traffic. */
export const addTraffic = (userId: number, bytes: Big): Write =>
  addToSums(totalsKey(userId), new Map([[trafficBytes, bytes]]))

/** The write that changes how many active devices a user has. */
export const addDevices = (userId: number, change: number): Write =>
  addToSums(totalsKey(userId), new Map(), new Map([[devices, change]]))

type Item = Record<string, unknown> | undefined

export interface RewardSum {
  rewardType: string
  currency: string
  amount: Big
}

/** Every sum of rewards by type and currency, ordered by type and currency. */
export const rewardSums = (totals: Item): RewardSum[] =>
  sumNames(totals, rewarded)
    .map((name) => {
      const [currency = '', ...type] = name.slice(rewarded.length).split('#')
      return { rewardType: type.join('#'), currency, amount: readSum(totals, name) }
    })
    .sort((a, b) => compare(a.rewardType, b.rewardType) || compare(a.currency, b.currency))

/** What was earned on a day, by currency. */
export const daySums = (day: Item): { currency: string; amount: Big }[] =>
  sumNames(day, earned)
    .map((name) => ({ currency: name.slice(earned.length), amount: readSum(day, name) }))
    .sort((a, b) => compare(a.currency, b.currency))

/** Rewards in all, in the reward currency. */
export const networkRewardsOf = (totals: Item): Big => readSum(totals, networkRewards)
export const trafficBytesOf = (totals: Item): Big => readSum(totals, trafficBytes)
export const devicesOf = (totals: Item): number => Number(readSum(totals, devices).toFixed())

/** Names of the sums under a prefix. A sum is there as soon as its whole part is, which every addition writes. */
const sumNames = (item: Item, prefix: string): string[] =>
  Object.keys(item ?? {}).filter((name) => name.startsWith(prefix))

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
