import * as v from 'valibot'
import { readItems } from '../db/read.ts'
import { Money } from '../money.ts'
import { rewardSums, totalsKey } from './earnings-item.ts'

/** All rewards of one type in one currency. */
export const NetworkReward = v.object({ reward_type: v.string(), currency: v.string(), amount: Money })
export type NetworkReward = v.InferOutput<typeof NetworkReward>

/** Every reward ever granted to a user, by type and currency, from one item. */
export async function readNetworkRewards(userId: number): Promise<NetworkReward[]> {
  const [totals] = await readItems([totalsKey(userId)])
  return rewardSums(totals).map(({ rewardType, currency, amount }) => ({
    reward_type: rewardType,
    currency,
    amount,
  }))
}
