import * as v from 'valibot'
import { addDays, dayOf } from '../dates.ts'
import { readItems } from '../db/read.ts'
import { readWallet, type Wallet } from '../ledger/wallet.ts'
import { Big, Money, zero } from '../money.ts'
import { CurrencyAmount } from './currency-amount.ts'
import {
  dayKey,
  daySums,
  devicesOf,
  networkRewardsOf,
  rewardSums,
  totalsKey,
  trafficBytesOf,
} from './earnings-item.ts'

/** What a user owns and has earned, at a glance. */
export const Overview = v.object({
  /** Every reward ever granted, in the reward currency; those that had no rate when granted are left out. */
  network_rewards: Money,
  /** Active devices. */
  devices: v.pipe(v.number(), v.safeInteger()),
  /** 10^9 bytes each. */
  traffic_gb: Money,
  /** What can be spent in the asset wallet and in the reward wallet. */
  balances: v.array(v.object({ currency: v.string(), balance: Money, bonus_balance: Money })),
  total_earnings: v.array(CurrencyAmount),
  /** What was earned on the day before today, in the reporting time zone. */
  yesterday_earnings: v.array(CurrencyAmount),
})
export type Overview = v.InferOutput<typeof Overview>

const gigabytesPerByte = new Big('1e-9')

/** The overview of a user, from four items whatever they have ever earned. */
export async function readOverview(userId: number): Promise<Overview> {
  const yesterday = addDays(dayOf(Date.now()), -1)
  const [[totals, day], asset, reward] = await Promise.all([
    readItems([totalsKey(userId), dayKey(userId, yesterday)]),
    readWallet({ userId, wallet: 'asset' }),
    readWallet({ userId, wallet: 'reward' }),
  ])
  return {
    network_rewards: networkRewardsOf(totals),
    devices: devicesOf(totals),
    traffic_gb: trafficBytesOf(totals).times(gigabytesPerByte),
    balances: balancesOf(asset, reward),
    total_earnings: sumByCurrency(rewardSums(totals)),
    yesterday_earnings: daySums(day),
  }
}

/** Both wallets side by side, without rows of zero. */
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

function sumByCurrency(rewards: readonly CurrencyAmount[]): CurrencyAmount[] {
  const sums = new Map<string, Big>()
  for (const { currency, amount } of rewards) sums.set(currency, amount.plus(sums.get(currency) ?? zero))
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([currency, amount]) => ({ currency, amount }))
}
