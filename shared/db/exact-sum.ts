import * as v from 'valibot'
import { Big, zero } from '../money.ts'
import { Decimal, toNumberValue } from './decimal.ts'
import type { Key } from './table.ts'
import type { Write } from './write.ts'

/** Number of decimal places of an exact sum. Its fraction is stored as a whole number of units of 10^-18. */
const places = 18
const fractionUnit = new Big(`1e-${places}`)
const unitsPerOne = new Big(`1e${places}`)

/**
 * From this power of ten on, the whole part of an addition is stored apart. Only the worth of a reward has so
 * many digits, because no amount does.
 */
const highPlaces = 30
const highUnit = new Big(`1e${highPlaces}`)

/** Name of the attribute that holds the fractional part of an exact sum. */
const fractionOf = (attribute: string): string => `~${attribute}`

/** Name of the attribute that holds what an exact sum has from `highUnit` on. */
const highOf = (attribute: string): string => `^${attribute}`

/**
 * The write that adds to exact sums (`Big`) and counts (`number`) of an item. DynamoDB does the addition, so
 * nothing is read first.
 *
 * A sum can need more than the 38 digits of a DynamoDB number. So a sum has up to three attributes: its whole
 * part, its fraction in units of 10^-18, and what very large additions have in units of 10^30. Amounts are
 * rounded to 18 decimal places, half to even.
 */
export function addToSums(
  key: Key,
  additions: Record<string, Big | number>,
): Required<Pick<Write, 'Update'>> {
  const added = Object.entries(additions).flatMap(([attribute, addition]): [string, unknown][] => {
    if (typeof addition === 'number') return [[attribute, addition]]
    const { high, whole, fraction } = split(addition)
    const others: [string, Big][] = [
      [fractionOf(attribute), fraction],
      [highOf(attribute), high],
    ]
    const parts: [string, Big][] = [[attribute, whole], ...others.filter(([, part]) => !part.eq('0'))]
    return parts.map(([name, part]) => [name, toNumberValue(part)])
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

function split(amount: Big): { high: Big; whole: Big; fraction: Big } {
  const rounded = amount.round(places, Big.roundHalfEven)
  const integer = rounded.round(0, Big.roundDown)
  const whole = integer.mod(highUnit)
  return {
    high: integer.minus(whole).div(highUnit),
    whole,
    fraction: rounded.minus(integer).times(unitsPerOne),
  }
}

/** Reads the exact sum stored under an attribute of an item; zero when there is none. */
export function readSum(item: Record<string, unknown> | undefined, attribute: string): Big {
  return storedPart(item, attribute)
    .plus(storedPart(item, fractionOf(attribute)).times(fractionUnit))
    .plus(storedPart(item, highOf(attribute)).times(highUnit))
}

const storedPart = (item: Record<string, unknown> | undefined, attribute: string): Big =>
  item?.[attribute] === undefined ? zero : v.parse(Decimal, item[attribute])
