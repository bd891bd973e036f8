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
 * The write that adds to exact sums (`Big`) and counts (`number`) of an item. DynamoDB does the addition, so
 * nothing is read first.
 *
 * A sum can need more than the 38 digits of a DynamoDB number. So a sum has two attributes: its whole part,
 * and its fraction in units of 10^-18. Amounts are rounded to 18 decimal places, half to even.
 */
export function addToSums(
  key: Key,
  additions: Record<string, Big | number>,
): Required<Pick<Write, 'Update'>> {
  const added = Object.entries(additions).flatMap(([attribute, addition]): [string, unknown][] => {
    if (typeof addition === 'number') return [[attribute, addition]]
    const { whole, fraction } = split(addition)
    const sum: [string, unknown] = [attribute, toNumberValue(whole)]
    return fraction.eq('0') ? [sum] : [sum, [fractionOf(attribute), toNumberValue(fraction)]]
  })
  return {
    Update: {
      Key: key,
      UpdateExpression: `ADD ${added.map((_, i) => `#a${i} :a${i}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(added.map(([attribute], i) => [`#a${i}`, attribute])),
      ExpressionAttributeValues: Object.fromEntries(added.map(([, value], i) => [`:a${i}`, value])),
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
