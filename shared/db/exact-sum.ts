import * as v from 'valibot'
import { Big, zero } from '../money.ts'
import { Decimal, toNumberValue } from './decimal.ts'
import type { Key } from './table.ts'
import type { Write } from './write.ts'

/** Number of decimal places of an exact sum. Its fraction is stored as a whole number of units of 10^-18. */
const places = 18
const fractionUnit = new Big(`1e-${places}`)
const unitsPerOne = new Big(`1e${places}`)

/** Name of the attribute that holds the fractional part of an exact sum. */
const fractionOf = (attribute: string): string => `~${attribute}`

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
): Required<Pick<Write, 'Update'>> {
  const added: Record<string, unknown> = {}
  const add = (attribute: string, value: unknown) => {
    added[attribute] = value
  }
  for (const [attribute, amount] of sums) {
    const { whole, fraction } = split(amount)
    add(attribute, toNumberValue(whole))
    if (!fraction.eq('0')) add(fractionOf(attribute), toNumberValue(fraction))
  }
  for (const [attribute, count] of counts) add(attribute, count)
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  const clauses = Object.entries(added).map(([attribute, value], i) => {
    names[`#a${i}`] = attribute
    values[`:a${i}`] = value
    return `#a${i} :a${i}`
  })
  return {
    Update: {
      Key: key,
      UpdateExpression: `ADD ${clauses.join(', ')}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    },
  }
}

function split(amount: Big): { whole: Big; fraction: Big } {
  const rounded = amount.round(places, Big.roundHalfEven)
  const whole = rounded.round(0, Big.roundDown)
  return { whole, fraction: rounded.minus(whole).times(unitsPerOne) }
}

/** Reads the exact sum stored under an attribute of an item; zero when there is none. */
export function readSum(item: Record<string, unknown> | undefined, attribute: string): Big {
  return storedPart(item, attribute).plus(storedPart(item, fractionOf(attribute)).times(fractionUnit))
}

const storedPart = (item: Record<string, unknown> | undefined, attribute: string): Big =>
  item?.[attribute] === undefined ? zero : v.parse(Decimal, item[attribute])
