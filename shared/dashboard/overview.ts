import * as v from 'valibot'
import { addDays, dayOf } from '../dates.ts'
import { queryItems, readItems } from '../db/read.ts'
import { readWallet, type Wallet } from '../ledger/wallet.ts'
import { Big, Money, zero } from '../money.ts'
import { dayEarnings, earnedSums, readTotals, readTypeReward, totals, typeRewards } from './sums.ts'

const CurrencyAmount = v.object({ currency: v.string(), amount: Money })

/** Response data of the dashboard's overview: what a user owns and has earned. */
export const Overview = v.object({
  /** Sum of all rewards in the reward currency, except rewards that had no exchange rate when granted. */
  network_rewards: Money,
  devices: v.pipe(v.number(), v.safeInteger()),
  /** Traffic in units of 10^9 bytes. */
  traffic_gb: Money,
  /** Spendable balances of the asset wallet (`balance`) and of the reward wallet (`bonus_balance`). */
  balances: v.array(v.object({ currency: v.string(), balance: Money, bonus_balance: Money })),
  total_earnings: v.array(CurrencyAmount),
  /** Earnings of yesterday, in the reporting time zone. */
  yesterday_earnings: v.array(CurrencyAmount),
})
export type Overview = v.InferOutput<typeof Overview>

const gigabytesPerByte = new Big('1e-9')

/** Reads a user's dashboard overview: always four items, however much the user has earned. */
export async function readOverview(userId: number): Promise<Overview> {
  const yesterday = addDays(dayOf(Date.now()), -1)
  const [[all, day], asset, reward] = await Promise.all([
    readItems([totals.key({ userId }), dayEarnings.key({ userId, day: yesterday })]),
    readWallet({ userId, wallet: 'asset' }),
    readWallet({ userId, wallet: 'reward' }),
  ])
  const { networkRewards, trafficBytes, devices } = readTotals(all)
  return {
    network_rewards: networkRewards,
    devices,
    traffic_gb: trafficBytes.times(gigabytesPerByte),
    balances: balancesOf(asset, reward),
    total_earnings: earnedSums(all),
    yesterday_earnings: earnedSums(day),
  }
}

/** The balances of both wallets by currency, without currencies in which both balances are zero. */
function balancesOf(asset: Wallet, reward: Wallet): Overview['balances'] {
  const currencies = new Set([...asset.holdings.keys(), ...reward.holdings.keys()])
  return [...currencies]
    .sort()
    .map((currency) => ({
      currency,
      balance: asset.holdings.get(currency)?.balance ?? zero,
      bonus_balance: reward.holdings.get(currency)?.balance ?? zero,
    }))
    .filter(({ balance, bonus_balance }) => !balance.eq('0') || !bonus_balance.eq('0'))
}

/** The sum of a user's rewards of one type in one currency. */
export const NetworkReward = v.object({ reward_type: v.string(), currency: v.string(), amount: Money })
export type NetworkReward = v.InferOutput<typeof NetworkReward>

/** Reads all of a user's reward sums, at most 500, ordered by type, then currency. */
export async function readNetworkRewards(userId: number): Promise<NetworkReward[]> {
  const rewards = (await Array.fromAsync(queryItems(typeRewards.all({ userId })))).map(readTypeReward)
  return rewards.sort((a, b) => compare(a.reward_type, b.reward_type) || compare(a.currency, b.currency))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
