import type Big from 'big.js'
import * as v from 'valibot'
import { Big as ExactBig, zero } from '../money.ts'
import { Decimal, toNumberValue, type Key } from './table.ts'
import type { Write } from './write.ts'

/** Number of decimal places of an exact sum. Its fraction is stored as a whole number of units of 10^-18. */
const places = 18
const fractionUnit = new ExactBig(`1e-${places}`)
const unitsPerOne = new ExactBig(`1e${places}`)

/** Name of the attribute that holds the fractional part of an exact sum. */
export const fractionOf = (attribute: string): string => `~${attribute}`

/**
 * The write that adds amounts to exact sums in attributes of an item. DynamoDB does the addition, so nothing
 * is read first.
 *
 * A DynamoDB number has 38 digits. A sum of amounts with 20 digits before and 18 after the point can need
 * more. So a sum is stored in two attributes, its whole part and its fraction in units of 10^-18, which
 * together are exact for 10^17 additions. Amounts with more than 18 decimal places are rounded half to even.
 */
export function addToSums(
  key: Key,
  sums: ReadonlyMap<string, Big>,
  counts: ReadonlyMap<string, number> = new Map(),
): Write {
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  const clauses: string[] = []
  const add = (attribute: string, value: unknown) => {
    const i = clauses.length
    names[`#a${i}`] = attribute
    values[`:a${i}`] = value
    clauses.push(`#a${i} :a${i}`)
  }
  for (const [attribute, amount] of sums) {
    const rounded = amount.round(places, ExactBig.roundHalfEven)
    const whole = rounded.round(0, ExactBig.roundDown)
    const fraction = rounded.minus(whole).times(unitsPerOne)
    add(attribute, toNumberValue(whole))
    if (!fraction.eq('0')) add(fractionOf(attribute), toNumberValue(fraction))
  }
  for (const [attribute, count] of counts) add(attribute, count)
  return {
    Update: {
      Key: key,
      UpdateExpression: `ADD ${clauses.join(', ')}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    },
  }
}

/** Reads the exact sum stored under an attribute of an item; zero when there is none. */
export function readSum(item: Record<string, unknown> | undefined, attribute: string): Big {
  const part = (name: string) => (item?.[name] === undefined ? zero : v.parse(Decimal, item[name]))
  return part(attribute).plus(part(fractionOf(attribute)).times(fractionUnit))
}
