import * as v from 'valibot'
import { Decimal, Integer, type Key, toNumberValue } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { Big } from '../money.ts'
import { settings } from '../settings.ts'
import { readItem } from '../db/read.ts'

/** The latest publication of rates: what one unit of a currency is worth in the quote currency. */
export interface Rates {
  /** Epoch milliseconds; null where none were ever published. */
  asOf: number | null
  rates: Map<string, Big>
}

const RatesItem = v.object({ as_of: Integer, rates: v.record(v.string(), Decimal) })

const ratesKey = (quote: string): Key => ({ pk: 'RATES', sk: quote })

/** The rates of the deployment's quote currency. Eventually consistent: a rate is an estimate. */
export async function readRates(): Promise<Rates> {
  const item = await readItem(ratesKey(settings().quoteCurrency))
  if (item === undefined) return { asOf: null, rates: new Map() }
  const { as_of: asOf, rates } = v.parse(RatesItem, item)
  return { asOf, rates: new Map(Object.entries(rates)) }
}

const one = new Big('1')

/** What one unit of a currency is worth in the quote currency, which counts one for one; undefined where nobody has said. */
export const rateOf = ({ rates }: Rates, currency: string): Big | undefined =>
  currency === settings().quoteCurrency ? one : rates.get(currency)

/** The latest rate of one currency. */
export const rateAt = async (currency: string): Promise<Big | undefined> =>
  rateOf(await readRates(), currency)

/** The write that replaces the rates by later ones; its condition fails where these are not later. */
export const putRates = (quote: string, asOf: number, rates: Record<string, Big>): Write => ({
  Put: {
    Item: {
      ...ratesKey(quote),
      as_of: asOf,
      rates: Object.fromEntries(
        Object.entries(rates).map(([currency, rate]) => [currency, toNumberValue(rate)]),
      ),
    },
    ConditionExpression: 'attribute_not_exists(pk) OR as_of < :as_of',
    ExpressionAttributeValues: { ':as_of': asOf },
  },
})
