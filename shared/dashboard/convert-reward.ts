import type { Big } from '../money.ts'
import { rateOf, readRates } from '../rates/rates.ts'
import { settings } from '../settings.ts'

/**
 * What an amount is worth in the reward currency at the latest rates; undefined where one of the two currencies has none.
 * Exact where the reward currency is the quote currency; otherwise a quotient of 20 decimal places.
 */
export async function convertReward(currency: string, amount: Big): Promise<Big | undefined> {
  const { rewardCurrency, quoteCurrency } = settings()
  if (currency === rewardCurrency) return amount
  const rates = await readRates()
  const from = rateOf(rates, currency)
  const to = rateOf(rates, rewardCurrency)
  if (from === undefined || to === undefined) return undefined
  const worth = amount.times(from)
  return rewardCurrency === quoteCurrency ? worth : worth.div(to)
}
