import Big from 'big.js'
import * as v from 'valibot'

// A Big made from a double is a defect: strict mode throws on `new Big(0.1)` and on valueOf in arithmetic.
Big.strict = true
// Sums and products of decimals are exact: big.js rounds quotients only.
Big.NE = -1_000_000
Big.PE = 1_000_000

export { Big }

/** Most digits that a DynamoDB number keeps exactly, which limits every amount and balance. */
const maximumDigits = 38

/**
 * An amount as it is received: plain positive digits as text, at most 20 before the point and 18 after it.
 */
export const Amount = v.pipe(
  v.string(),
  v.regex(/^\d{1,20}(\.\d{1,18})?$/, 'must be plain digits, at most 20 before the point and 18 after it'),
  v.transform((digits) => new Big(digits)),
  v.check((amount) => amount.gt('0'), 'must be positive'),
)

/** An amount as it is answered: a JSON number with all its digits. */
export const Money = v.custom<Big>((value) => value instanceof Big, 'must be an amount')

/** Zero, to start a sum from. */
export const zero = new Big('0')

/** Whether an amount has few enough digits to be stored exactly. */
export const fitsTable = (amount: Big): boolean =>
  amount.c.length <= maximumDigits && amount.e < maximumDigits

/** JSON text in which every Big is a number with all its digits. No amount passes through a double. */
export const stringifyExact = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key, converted: unknown) {
    const original = this[key]
    return original instanceof Big ? JSON.rawJSON(original.toFixed()) : converted
  })
