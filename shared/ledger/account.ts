import * as v from 'valibot'
import { type Big, Money, zero } from '../money.ts'
import { rateOf, type Rates } from '../rates/rates.ts'
import { settings } from '../settings.ts'
import type { Wallet } from './wallet.ts'

/** What a user is shown about one currency in a wallet. */
export const Account = v.object({
  currency: v.string(),
  /** Amount that can be spent. */
  balance: Money,
  /** Amount that is held for withdrawals that are not settled yet. */
  hold: Money,
  deposited: Money,
  withdrawal: Money,
})
export type Account = v.InferOutput<typeof Account>

/** Lists the currencies of a wallet in alphabetical order. With `only`, lists just that currency. */
export const listAccounts = (wallet: Wallet, only?: string): Account[] =>
  [...wallet.holdings]
    .filter(([currency]) => only === undefined || currency === only)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, { balance, hold, deposited, withdrawal }]) => ({
      currency,
      balance,
      hold,
      deposited,
      withdrawal,
    }))

/** Answer: what a wallet is worth in the quote currency. Sums leave out currencies without a rate. */
export const AssetSummary = v.object({
  currency: v.string(),
  total: Money,
  balance: Money,
  hold: Money,
  /** Instant of the rates used, epoch milliseconds; null before the first publication of rates. */
  rates_at: v.nullable(v.number()),
  assets: v.array(
    v.object({
      currency: v.string(),
      balance: Money,
      hold: Money,
      rate: v.nullable(Money),
      value: v.nullable(Money),
    }),
  ),
})
export type AssetSummary = v.InferOutput<typeof AssetSummary>

/** Computes what a wallet is worth in the quote currency at the given rates. */
export function summarizeAssets(wallet: Wallet, rates: Rates): AssetSummary {
  const assets = listAccounts(wallet).map(({ currency, balance, hold }) => {
    const rate = rateOf(rates, currency) ?? null
    return { currency, balance, hold, rate, value: rate && balance.plus(hold).times(rate) }
  })
  const sum = (of: (asset: (typeof assets)[number]) => Big) =>
    assets.reduce((total, asset) => (asset.rate ? total.plus(of(asset).times(asset.rate)) : total), zero)
  const balance = sum((asset) => asset.balance)
  const hold = sum((asset) => asset.hold)
  return {
    currency: settings().quoteCurrency,
    total: balance.plus(hold),
    balance,
    hold,
    rates_at: rates.asOf,
    assets,
  }
}
