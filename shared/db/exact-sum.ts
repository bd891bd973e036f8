import * as v from 'valibot'
import { Big, zero } from '../money.ts'
import { Decimal, toNumberValue } from './decimal.ts'
import type { Key } from './table.ts'
import type { Write } from './write.ts'

/**
 * The parts of an exact sum, from the greatest unit on. Each is an attribute with a whole number of its unit,
 * a power of ten: a sum can need more than the 38 digits of a DynamoDB number. Amounts have at most 20 digits
 * before the point and 18 after it, and so have rates: only the worth of a reward has the first or last part.
 */
const parts = [
  { prefix: '^', exponent: 30 },
  { prefix: '', exponent: 0 },
  { prefix: '~', exponent: -18 },
  { prefix: '~~', exponent: -36 },
].map(({ prefix, exponent }) => ({
  prefix,
  unit: new Big(`1e${exponent}`),
  unitsPerOne: new Big(`1e${-exponent}`),
}))

/**
 * The write that adds to exact sums (`Big`) and counts (`number`) of an item. DynamoDB does the addition, so
 * nothing is read first. Additions have at most 36 decimal places.
 */
export function addToSums(
  key: Key,
  additions: Record<string, Big | number>,
): Required<Pick<Write, 'Update'>> {
  const added = Object.entries(additions).flatMap(([attribute, addition]): [string, unknown][] =>
    typeof addition === 'number'
      ? [[attribute, addition]]
      : split(addition).map(({ prefix, units }) => [prefix + attribute, toNumberValue(units)]),
  )
  return {
    Update: {
      Key: key,
      UpdateExpression: `ADD ${added.map((_, i) => `#a${i} :a${i}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(added.map(([name], i) => [`#a${i}`, name])),
      ExpressionAttributeValues: Object.fromEntries(added.map(([, value], i) => [`:a${i}`, value])),
    },
  }
}

/** Splits an amount into the parts that it has. That without a prefix is always there: it names the sum. */
function split(amount: Big): { prefix: string; units: Big }[] {
  let rest = amount
  return parts
    .map(({ prefix, unit, unitsPerOne }) => {
      const units = rest.times(unitsPerOne).round(0, Big.roundDown)
      rest = rest.minus(units.times(unit))
      return { prefix, units }
    })
    .filter(({ prefix, units }) => prefix === '' || !units.eq(zero))
}

/** Reads the exact sum stored under an attribute of an item; zero when there is none. */
export const readSum = (item: Record<string, unknown> | undefined, attribute: string): Big =>
  parts.reduce((sum, { prefix, unit }) => sum.plus(storedPart(item, prefix + attribute).times(unit)), zero)

const storedPart = (item: Record<string, unknown> | undefined, attribute: string): Big =>
  item?.[attribute] === undefined ? zero : v.parse(Decimal, item[attribute])
