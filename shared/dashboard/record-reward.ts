import type { Write } from '../db/write.ts'
import type { Big } from '../money.ts'
import { convertReward } from './convert-reward.ts'
import { addRewardToDay, addRewardToTotals } from './earnings-item.ts'

/** A reward as the dashboard counts it. */
export interface Reward {
  userId: number
  rewardType: string
  currency: string
  amount: Big
  /** yyyy-MM-dd */
  earnedOn: string
}

/**
 * The dashboard's part of a reward, for the reward's own transaction: two additions, so that every sum is read from a number
 * of items that only grows with days, types and currencies.
 */
export async function recordReward({ userId, earnedOn, ...reward }: Reward): Promise<Write[]> {
  const converted = await convertReward(reward.currency, reward.amount)
  return [
    addRewardToTotals(userId, { ...reward, converted }),
    addRewardToDay(userId, earnedOn, reward.currency, reward.amount),
  ]
}
