import { type Placeholders, Tokens } from './tokens.ts'
import { type Attributes, compare, isSame, typeOf, type Value, validationError } from './values.ts'

/** Whether an item meets a condition, filter or key condition; `undefined` stands for a missing item. */
export function holds(
  expression: string | undefined,
  placeholders: Placeholders,
  item: Attributes | undefined,
): boolean {
  if (expression === undefined) return true
  const tokens = new Tokens(expression, placeholders)
  const result = any(tokens, item ?? {})
  if (tokens.keyword !== '') throw validationError(`a condition goes on with ${tokens.keyword}`)
  return result
}

/** Reads the value at a path; undefined if there is none. */
export function read(item: Attributes, [name = '', ...rest]: readonly string[]): Value | undefined {
  const value = Object.hasOwn(item, name) ? item[name] : undefined
  if (value === undefined || rest.length === 0) return value
  const [type, held] = typeOf(value)
  return type === 'M' ? read(held as Attributes, rest) : undefined
}

function any(tokens: Tokens, item: Attributes): boolean {
  let result = all(tokens, item)
  // Evaluates the right side even if the left side is true, so that all tokens of the expression are read.
  while (tokens.takes('OR')) result = all(tokens, item) || result
  return result
}

function all(tokens: Tokens, item: Attributes): boolean {
  let result = one(tokens, item)
  while (tokens.takes('AND')) result = one(tokens, item) && result
  return result
}

function one(tokens: Tokens, item: Attributes): boolean {
  if (tokens.takes('NOT')) return !one(tokens, item)
  if (tokens.takes('(')) {
    const result = any(tokens, item)
    tokens.expect(')')
    return result
  }
  switch (tokens.keyword) {
    case 'ATTRIBUTE_EXISTS':
      return argument(tokens, () => read(item, tokens.takePath()) !== undefined)
    case 'ATTRIBUTE_NOT_EXISTS':
      return argument(tokens, () => read(item, tokens.takePath()) === undefined)
    case 'BEGINS_WITH':
      return argument(tokens, () => {
        const text = read(item, tokens.takePath())?.['S'] as string | undefined
        tokens.expect(',')
        return text?.startsWith(tokens.takeValue()['S'] as string) ?? false
      })
    default:
      return comparison(tokens, item)
  }
}

function argument<T>(tokens: Tokens, take: () => T): T {
  tokens.take()
  tokens.expect('(')
  const result = take()
  tokens.expect(')')
  return result
}

function comparison(tokens: Tokens, item: Attributes): boolean {
  const left = operand(tokens, item)
  const operator = tokens.take().toUpperCase()
  const right = operand(tokens, item)
  const order = compare(left, right)
  if (operator === 'BETWEEN') {
    tokens.expect('AND')
    const upper = operand(tokens, item)
    const end = compare(left, upper)
    if ((compare(right, upper) ?? 0) > 0) throw validationError('the upper bound is below the lower bound')
    return order !== undefined && order >= 0 && end !== undefined && end <= 0
  }
  if (operator === '=') return isSame(left, right)
  if (operator === '<>') return !isSame(left, right)
  if (!['<', '<=', '>', '>='].includes(operator)) throw validationError(`an operator is ${operator}`)
  if (order === undefined) return false
  return (operator.endsWith('=') && order === 0) || (operator.startsWith('<') ? order < 0 : order > 0)
}

function operand(tokens: Tokens, item: Attributes): Value | undefined {
  if (tokens.keyword.startsWith(':')) return tokens.takeValue()
  if (tokens.keyword !== 'SIZE') return read(item, tokens.takePath())
  return argument(tokens, () => sizeOf(read(item, tokens.takePath())))
}

function sizeOf(value: Value | undefined): Value | undefined {
  if (value === undefined) return undefined
  const [type, held] = typeOf(value)
  if (type === 'S') return { N: String(Buffer.byteLength(held as string)) }
  const size = type === 'M' ? Object.keys(held as object).length : (held as { length?: number }).length
  return size === undefined ? undefined : { N: String(size) }
}
