import * as v from 'valibot'
import { CurrencyCode, Instant, membersOf } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { isObject } from '../../shared/is-object.ts'
import { Amount } from '../../shared/money.ts'
import { publishRates } from '../../shared/rates/rates.ts'

type Named = Readonly<Record<string, unknown>>

/** Whether a value is an object that names no currency twice, as `BTC` and `btc` would. */
const namesEachOnce = (rates: unknown): rates is Named =>
  isObject(rates) &&
  new Set(Object.keys(rates).map((name) => name.toUpperCase())).size === Object.keys(rates).length

/** The currencies that `v.record` leaves out, because it takes their names for an attack. */
const leftOut = (rates: Named) =>
  Object.fromEntries(
    Object.entries(rates)
      .filter(([name]) => ['__proto__', 'constructor', 'prototype'].includes(name))
      .map(([name, rate]) => [name.toUpperCase(), rate]),
  )

const Rates = v.intersect([
  v.record(CurrencyCode, Amount),
  // Needed besides, because `v.record` also takes a list, and of two spellings of a currency the last.
  v.pipe(
    v.custom<Named>(namesEachOnce, 'must be an object that names each currency once'),
    v.transform(leftOut),
    v.record(v.string(), Amount),
  ),
])

/** Replaces the rates at which wallets are converted to the quote currency. */
export const handler = intake({
  detailType: 'rates.published',
  detail: membersOf({ quote: CurrencyCode, as_of: Instant, rates: Rates }),
  key: ({ quote, as_of }) => `${quote}#${as_of}`,
  rejections: ['unknown_quote'],
  apply: publishRates,
})
