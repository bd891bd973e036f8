import * as v from 'valibot'
import { type Big, Money, zero } from '../money.ts'
import { rateOf, type Rates } from '../rates/rates.ts'
import { settings } from '../settings.ts'
import { listAccounts } from './account.ts'
import type { Wallet } from './wallet.ts'

/** What a wallet is worth in the quote currency. A currency without a rate is listed and left out of the sums. */
export const AssetSummary = v.object({
  /** The quote currency. */
  currency: v.string(),
  total: Money,
  balance: Money,
  hold: Money,
  /** Instant of the rates, epoch milliseconds; null where there are none. */
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

/** Converts a wallet at the given rates. */
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
