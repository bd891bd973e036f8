import * as v from 'valibot'
import { Big, zero } from '../money.ts'
import { Decimal, toNumberValue } from './decimal.ts'
import type { Key } from './table.ts'
import type { Write } from './write.ts'

/**
 * Number of decimal places of an amount. The fraction of an exact sum is stored as a whole number of units of
 * 10^-18. Of these, only the worth of a reward has parts, because a rate has as many decimal places: they are
 * stored apart, as a whole number of units of 10^-36.
 */
const places = 18
const fractionUnit = new Big(`1e-${places}`)
const partUnit = new Big(`1e-${2 * places}`)
const unitsPerOne = new Big(`1e${places}`)

/**
 * From this power of ten on, the whole part of an addition is stored apart. Only the worth of a reward has so
 * many digits, because no amount does.
 */
const highPlaces = 30
const highUnit = new Big(`1e${highPlaces}`)

/** Name of the attribute that holds the fractional part of an exact sum. */
const fractionOf = (attribute: string): string => `~${attribute}`

/** Name of the attribute that holds what an exact sum has below a unit of its fraction. */
const partOf = (attribute: string): string => `~~${attribute}`

/** Name of the attribute that holds what an exact sum has from `highUnit` on. */
const highOf = (attribute: string): string => `^${attribute}`

/**
 * The write that adds to exact sums (`Big`) and counts (`number`) of an item. DynamoDB does the addition, so
 * nothing is read first.
 *
 * A sum can need more than the 38 digits of a DynamoDB number. So a sum has up to four attributes: its whole
 * part, its fraction in units of 10^-18, what additions have below that in units of 10^-36, and what very
 * large additions have in units of 10^30. Additions have at most 36 decimal places.
 */
export function addToSums(
  key: Key,
  additions: Record<string, Big | number>,
): Required<Pick<Write, 'Update'>> {
  const added = Object.entries(additions).flatMap(([attribute, addition]): [string, unknown][] => {
    if (typeof addition === 'number') return [[attribute, addition]]
    const { high, whole, fraction, part } = split(addition)
    const others: [string, Big][] = [
      [fractionOf(attribute), fraction],
      [partOf(attribute), part],
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

function split(amount: Big): { high: Big; whole: Big; fraction: Big; part: Big } {
  const integer = amount.round(0, Big.roundDown)
  const whole = integer.mod(highUnit)
  const units = amount.minus(integer).times(unitsPerOne)
  const fraction = units.round(0, Big.roundDown)
  return {
    high: integer.minus(whole).div(highUnit),
    whole,
    fraction,
    part: units.minus(fraction).times(unitsPerOne),
  }
}

/** Reads the exact sum stored under an attribute of an item; zero when there is none. */
export function readSum(item: Record<string, unknown> | undefined, attribute: string): Big {
  return storedPart(item, attribute)
    .plus(storedPart(item, fractionOf(attribute)).times(fractionUnit))
    .plus(storedPart(item, partOf(attribute)).times(partUnit))
    .plus(storedPart(item, highOf(attribute)).times(highUnit))
}

const storedPart = (item: Record<string, unknown> | undefined, attribute: string): Big =>
  item?.[attribute] === undefined ? zero : v.parse(Decimal, item[attribute])
