import * as v from 'valibot'
import { Money } from '../money.ts'

/** An amount of a currency. */
export const CurrencyAmount = v.object({ currency: v.string(), amount: Money })
export type CurrencyAmount = v.InferOutput<typeof CurrencyAmount>
