import Big from 'big.js'
import * as v from 'valibot'
import { exactDigits } from './stringify-exact.ts'

// In strict mode, big.js throws if a Big is created from a double, or is used with an operator such as `<`.
Big.strict = true

// stringifyExact reads this property of an amount, so that it need not import big.js.
Object.defineProperty(Big.prototype as object, exactDigits, {
  get(this: Big) {
    return this.toFixed()
  },
})

export { Big }

/** Maximum number of digits that DynamoDB stores exactly; so no amount or balance may have more. */
const maximumDigits = 38

/**
 * Schema of an amount of money: a positive decimal number as text, with at most 20 digits before the point
 * and 18 after it.
 */
export const Amount = v.pipe(
  v.string(),
  v.regex(/^\d{1,20}(\.\d{1,18})?$/, 'must be plain digits, at most 20 before the point and 18 after it'),
  v.transform((digits) => new Big(digits)),
  v.check((amount) => amount.gt('0'), 'must be positive'),
)

/** Schema of an amount of money in an answer: a JSON number with all its digits. */
export const Money = v.custom<Big>((value) => value instanceof Big, 'must be an amount')

/** The decimal zero, from which sums start. */
export const zero = new Big('0')

/** Number of digits after the point of an amount. */
export const countDecimals = ({ c, e }: Big): number => Math.max(0, c.length - 1 - e)

/** Whether the table could store an amount even if it had this many digits after the point. */
export const fitsWithDecimals = (amount: Big, decimals: number): boolean =>
  amount.e + 1 + decimals <= maximumDigits

/** Whether an amount has few enough digits for DynamoDB to store it exactly. */
export const fitsTable = (amount: Big): boolean =>
  amount.c.length <= maximumDigits && amount.e < maximumDigits
