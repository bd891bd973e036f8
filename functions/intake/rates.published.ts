import * as v from 'valibot'
import { CurrencyCode, Instant } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { Amount } from '../../shared/money.ts'
import { publishRates } from '../../shared/rates/rates.ts'

/** Replaces the rates at which wallets are converted to the quote currency. */
export const handler = intake({
  detailType: 'rates.published',
  detail: v.object({ quote: CurrencyCode, as_of: Instant, rates: v.record(CurrencyCode, Amount) }),
  key: ({ quote, as_of }) => `${quote}#${as_of}`,
  rejections: ['unknown_quote'],
  apply: publishRates,
})
