import * as v from 'valibot'
import { cacheRead } from '../cache-read.ts'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Decimal, toNumberValue } from '../db/decimal.ts'
import { Integer } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { countedInstant } from '../events/delivery.ts'
import { applyUnlessOvertaken, type EventRecord } from '../events/event-record.ts'
import type { Result } from '../events/outcome.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { Big } from '../money.ts'
import { settings } from '../settings.ts'

/** The latest published rates: what one unit of a currency is worth in the quote currency. */
export interface Rates {
  /** Instant of the rates, epoch milliseconds; null before the first publication. */
  asOf: number | null
  rates: Map<string, Big>
}

const RatesItem = v.object({ as_of: Integer, rates: v.record(v.string(), Decimal) })

const ratesKeys = itemType({
  pk: 'RATES',
  sk: '{quote}',
  holds: 'the latest rates: what one unit of each currency is worth in the quote currency',
  found: 'by quote currency',
})

/** Reads the rates of the deployment's quote currency, with eventually consistent reads. */
export async function readRates(): Promise<Rates> {
  const item = await readItem(ratesKeys.key({ quote: settings().quoteCurrency }))
  if (item === undefined) return { asOf: null, rates: new Map() }
  const { as_of: asOf, rates } = v.parse(RatesItem, item)
  return { asOf, rates: new Map(Object.entries(rates)) }
}

const recentRates = cacheRead(readRates, {
  maxAge: () => 1_000,
  onlyAfter: { requests: 10, withinMilliseconds: 1_000 },
  keeps: ({ asOf }) => asOf !== null,
})

/**
 * Reads the rates for an estimate. After ten calls in a second, the process reuses rates for up to a second,
 * because DynamoDB allows only 3,000 read units a second for one item.
 */
export const readRecentRates = (): Promise<Rates> => recentRates.get()

/** What one unit of a currency is worth in the quote currency; undefined if the currency has no rate. */
export const rateOf = ({ rates }: Rates, currency: string): Big | undefined =>
  currency === settings().quoteCurrency ? new Big('1') : rates.get(currency)

/** Number of decimal places of a quotient of rates, as amounts have. */
const quotientPlaces = 18

/**
 * Converts an amount at the latest rates; undefined when either currency has no rate. A conversion into the
 * quote currency is exact, with up to 36 decimal places; any other result is a quotient, rounded half to
 * even.
 */
export async function convert(amount: Big, currency: string, target: string): Promise<Big | undefined> {
  if (currency === target) return amount
  const rates = await readRates()
  const [from, to] = [rateOf(rates, currency), rateOf(rates, target)]
  if (from === undefined || to === undefined) return undefined
  const worth = amount.times(from)
  if (target === settings().quoteCurrency) return worth
  return worth.div(to).round(quotientPlaces, Big.roundHalfEven)
}

/** The data of a `rates.published` event; `as_of` is the instant of the rates, epoch milliseconds. */
interface Publication {
  quote: string
  as_of: number
  rates: Record<string, Big>
}

/**
 * Replaces all rates by those of this publication, unless the stored rates are as new or newer. An omitted
 * currency loses its rate, because nobody would know the rate's age.
 *
 * Throws RejectedEvent for a quote currency other than the deployment's.
 */
export async function publishRates(publication: Publication, record: EventRecord): Promise<Result> {
  if (publication.quote !== settings().quoteCurrency) throw new RejectedEvent('unknown_quote')
  return applyUnlessOvertaken(record, [
    putRates(publication, countedInstant(publication.as_of, record.delivery)),
  ])
}

/** The write that replaces the rates; it fails unless the new ones are later than the stored ones. */
const putRates = ({ quote, as_of, rates }: Publication, countedAt: number): Write => ({
  Put: {
    Item: {
      ...ratesKeys.key({ quote }),
      as_of,
      counted_at: countedAt,
      rates: Object.fromEntries(
        Object.entries(rates).map(([currency, rate]) => [currency, toNumberValue(rate)]),
      ),
    },
    ConditionExpression:
      'attribute_not_exists(pk) OR counted_at < :counted_at OR (counted_at = :counted_at AND as_of < :as_of)',
    ExpressionAttributeValues: { ':as_of': as_of, ':counted_at': countedAt },
  },
})
