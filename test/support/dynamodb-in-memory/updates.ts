import Big from 'big.js'
import { read } from './conditions.ts'
import { type Placeholders, Tokens } from './tokens.ts'
import { type Attributes, toNumber, typeOf, type Value, validationError } from './values.ts'

/** Applies an update expression to an item. All operands have their values from before the update. */
export function update(expression: string, placeholders: Placeholders, item: Attributes): Attributes {
  const tokens = new Tokens(expression, placeholders)
  let result = item
  const change = (path: readonly string[], value: Value | undefined) => {
    result = changeAt(result, path, value)
  }
  const clauses: Record<string, () => void> = {
    SET: () => {
      const path = tokens.takePath()
      tokens.expect('=')
      change(path, sum(tokens, item))
    },
    REMOVE: () => change(tokens.takePath(), undefined),
    ADD: () => {
      const path = tokens.takePath()
      change(path, add(read(item, path) ?? { N: '0' }, tokens.takeValue()))
    },
  }
  while (tokens.keyword !== '') {
    const clause = clauses[tokens.take().toUpperCase()]
    if (clause === undefined) throw validationError(`an update cannot be read: ${expression}`)
    do clause()
    while (tokens.takes(','))
  }
  return result
}

/** The value of a SET clause: an operand, or the sum or difference of two operands. */
function sum(tokens: Tokens, item: Attributes): Value {
  const first = operand(tokens, item)
  if (tokens.takes('+')) return add(first, operand(tokens, item))
  return tokens.takes('-') ? add(first, operand(tokens, item), -1) : first
}

function operand(tokens: Tokens, item: Attributes): Value {
  if (tokens.keyword.startsWith(':')) return tokens.takeValue()
  const isDefault = tokens.takes('if_not_exists')
  if (isDefault) tokens.expect('(')
  const value = read(item, tokens.takePath())
  if (!isDefault) {
    if (value === undefined) throw validationError('an update reads an attribute that the item has not')
    return value
  }
  tokens.expect(',')
  const other = operand(tokens, item)
  tokens.expect(')')
  return value ?? other
}

function add(one: Value, other: Value, sign: 1 | -1 = 1): Value {
  const [[type, held], [otherType, otherHeld]] = [typeOf(one), typeOf(other)]
  if (type !== 'N' || otherType !== 'N') throw validationError('only numbers are added')
  return { N: toNumber(new Big(held as string).plus(new Big(otherHeld as string).times(String(sign)))) }
}

/** Returns a copy of an item with a new value at a path. An undefined value removes the attribute. */
function changeAt(
  item: Attributes,
  [name = '', ...rest]: readonly string[],
  value: Value | undefined,
): Attributes {
  if (rest.length > 0) {
    const [type, held] = typeOf(read(item, [name]) ?? { NULL: true })
    if (type !== 'M') throw validationError('The document path provided in the update expression is invalid')
    return { ...item, [name]: { M: changeAt(held as Attributes, rest, value) } }
  }
  if (value !== undefined) return { ...item, [name]: value }
  return Object.fromEntries(Object.entries(item).filter(([other]) => other !== name))
}
