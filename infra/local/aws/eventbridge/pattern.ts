/** Tells whether an event, parsed, matches a rule's pattern. */
export type EventTest = (event: unknown) => boolean

type ValueTest = (value: unknown) => boolean

/**
 * Compiles an event pattern: fields name lists of alternatives (exact values, `prefix`, `suffix`, `equals-ignore-case`,
 * `anything-but`, `exists`, `numeric`) or further fields. Throws on any form that it does not know.
 */
export function compilePattern(pattern: Record<string, unknown>): EventTest {
  const tests = Object.entries(pattern).map(([field, expected]) => compileField(field, expected))
  return (event) => isRecord(event) && tests.every((test) => test(event))
}

function compileField(field: string, expected: unknown): (event: Record<string, unknown>) => boolean {
  if (field.startsWith('$')) throw new Error(`the event pattern uses ${field}, which is not known here`)
  if (Array.isArray(expected)) {
    const absent = expected.some((item) => isRecord(item) && item['exists'] === false)
    const tests = expected.map(compileAlternative)
    return (event) => {
      const value = event[field]
      if (value === undefined) return absent
      // An array in the event matches if one of its elements does.
      const values: unknown[] = Array.isArray(value) ? value : [value]
      return values.some((item) => tests.some((test) => test(item)))
    }
  }
  if (!isRecord(expected))
    throw new Error(`the event pattern's field ${field} is neither a list nor further fields`)
  const test = compilePattern(expected)
  return (event) => {
    const value = event[field]
    const values: unknown[] = Array.isArray(value) ? value : [value ?? {}]
    return values.some(test)
  }
}

function compileAlternative(expected: unknown): ValueTest {
  if (!isRecord(expected)) return (value) => value === expected
  const [operator, operand, ...rest] = Object.entries(expected).flat()
  if (rest.length > 0) throw new Error('an alternative of the event pattern has more than one operator')
  switch (operator) {
    case 'prefix':
      return onText(operand, (value, text) => value.startsWith(text))
    case 'suffix':
      return onText(operand, (value, text) => value.endsWith(text))
    case 'equals-ignore-case':
      return onText(operand, (value, text) => value.toLowerCase() === text.toLowerCase())
    case 'exists':
      return () => operand === true
    case 'anything-but': {
      const tests = [operand].flat().map(compileAlternative)
      return (value) => !tests.some((test) => test(value))
    }
    case 'numeric':
      return compileNumeric(operand)
    default:
      throw new Error(`the event pattern's operator ${String(operator)} is not known here`)
  }
}

function onText(operand: unknown, test: (value: string, text: string) => boolean): ValueTest {
  if (typeof operand !== 'string') throw new Error('an operator of the event pattern needs a text')
  return (value) => typeof value === 'string' && test(value, operand)
}

const comparisons: Record<string, (left: number, right: number) => boolean> = {
  '=': (left, right) => left === right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
}

/** `["=", 5]` or `[">", 0, "<=", 5]`. */
function compileNumeric(operand: unknown): ValueTest {
  const parts: unknown[] = Array.isArray(operand) ? operand : []
  const tests: ((value: number) => boolean)[] = []
  for (let index = 0; index < parts.length; index += 2) {
    const compare = comparisons[String(parts[index])]
    const bound = parts[index + 1]
    if (compare === undefined || typeof bound !== 'number')
      throw new Error('the event pattern compares no numbers')
    tests.push((value) => compare(value, bound))
  }
  if (tests.length === 0) throw new Error('the event pattern compares no numbers')
  return (value) => typeof value === 'number' && tests.every((test) => test(value))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
