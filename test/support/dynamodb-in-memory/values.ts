import Big from 'big.js'

/** A value in the form of DynamoDB's protocol: an object whose only key is the type. */
export type Value = Record<string, unknown>

/** The attributes of an item, keyed by name. They are never changed in place. */
export type Attributes = Readonly<Record<string, Value>>

/** A validation error of DynamoDB, as the SDK throws it. */
export const validationError = (message: string): Error =>
  Object.assign(new Error(message), {
    name: 'ValidationException',
    $fault: 'client',
    $metadata: { httpStatusCode: 400 },
  })

/** Splits a value into its type and its content. */
export function typeOf(value: Value): [type: string, held: unknown] {
  const [entry] = Object.entries(value)
  if (entry === undefined) throw validationError('a value has no type')
  return entry
}

const compareTexts = (one: string, other: string): number =>
  one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other))

/** Compares two values; undefined if their types differ or have no order. */
export function compare(one: Value | undefined, other: Value | undefined): number | undefined {
  if (one === undefined || other === undefined) return undefined
  const [[type, held], [otherType, otherHeld]] = [typeOf(one), typeOf(other)]
  if (type !== otherType) return undefined
  if (type === 'N') return new Big(held as string).cmp(otherHeld as string)
  if (type === 'S') return compareTexts(held as string, otherHeld as string)
  return type === 'B' ? Buffer.compare(held as Uint8Array, otherHeld as Uint8Array) : undefined
}

/** Whether two values are the same, whatever the order of the members of maps. */
export function isSame(one: Value | undefined, other: Value | undefined): boolean {
  if (one === undefined || other === undefined) return false
  const [[type, held], [otherType, otherHeld]] = [typeOf(one), typeOf(other)]
  if (type !== otherType) return false
  if (type === 'L') {
    const [list, others] = [held as Value[], otherHeld as Value[]]
    return list.length === others.length && list.every((value, i) => isSame(value, others[i]))
  }
  if (type === 'M') {
    const [map, others] = [held as Attributes, otherHeld as Attributes]
    const names = Object.keys(map)
    return (
      names.length === Object.keys(others).length && names.every((name) => isSame(map[name], others[name]))
    )
  }
  return compare(one, other) === 0 || (type !== 'N' && held === otherHeld)
}

/** A value as it is stored, with every number in its one canonical form. */
export function toStored(value: Value): Value {
  const [type, held] = typeOf(value)
  if (type === 'N') return { N: toNumber(new Big(held as string)) }
  if (type === 'L') return { L: (held as Value[]).map(toStored) }
  return type === 'M' ? { M: toStoredItem(held as Attributes) } : value
}

/** An item as it is stored. */
export const toStoredItem = (item: Attributes): Attributes =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toStored(value)]))

const maxDigits = 38

/** The text of a number. Throws if the number needs more digits than DynamoDB keeps. */
export function toNumber(number: Big): string {
  if (number.c.length > maxDigits) throw validationError('a number has more than 38 digits')
  return number.toFixed()
}
