import { isObject } from '../../../../shared/is-object.ts'
import { matchesWildcard } from '../iam/condition.ts'

/** A compiled event pattern: tells whether an event, parsed from JSON, matches. */
export type EventTest = (event: unknown) => boolean

/**
 * Compiles an EventBridge event pattern. Throws on a form that is not emulated, because ignoring it would
 * deliver the wrong events.
 */
export function compilePattern(pattern: Record<string, unknown>): EventTest {
  const tests = Object.entries(pattern).map(([field, expected]): [string, EventTest] => {
    if (field === '$or') return [field, compileOr(expected)]
    if (field.startsWith('$')) throw new Error(`the event pattern uses ${field}, which is not known here`)
    if (Array.isArray(expected)) return [field, compileAlternatives(expected)]
    if (isObject(expected)) return [field, compilePattern(expected)]
    throw new Error(`the event pattern's field ${field} is neither a list nor further fields`)
  })
  return (event) => {
    // If the event lacks a field, all fields nested in that field count as missing.
    const fields = event ?? {}
    if (!isObject(fields)) return false
    return tests.every(([field, test]) => {
      if (field === '$or') return test(fields)
      // If the event has a list in this field, one matching element is enough.
      const values: unknown[] = [fields[field]].flat()
      return values.some((value) => test(value))
    })
  }
}

function compileOr(patterns: unknown): EventTest {
  if (!Array.isArray(patterns) || patterns.length < 2 || !patterns.every(isObject))
    throw new Error("the event pattern's $or is not a list of two patterns or more")
  const tests = patterns.map(compilePattern)
  return (event) => tests.some((test) => test(event))
}

function compileAlternatives(alternatives: unknown[]): EventTest {
  const tests = alternatives.map((expected): EventTest => {
    if (!isObject(expected)) return (value) => value === expected
    const [[operator, operand] = [], ...others] = Object.entries(expected)
    if (others.length > 0) throw new Error('an alternative of the event pattern has more than one operator')
    if (operator === 'anything-but') return compileAnythingBut(operand)
    if (operator === 'prefix' && typeof operand === 'string')
      return (value) => typeof value === 'string' && value.startsWith(operand)
    if (operator === 'suffix' && typeof operand === 'string')
      return (value) => typeof value === 'string' && value.endsWith(operand)
    if (operator === 'exists' && typeof operand === 'boolean')
      return (value) => (value !== undefined) === operand
    throw new Error(`the event pattern's operator ${String(operator)} is not known here`)
  })
  return (value) => tests.some((test) => test(value))
}

/** As in EventBridge, `anything-but` does not match a missing field. */
function compileAnythingBut(operand: unknown): EventTest {
  const { wildcard } = isObject(operand) ? operand : {}
  if (typeof wildcard === 'string')
    return (value) => typeof value === 'string' && !matchesWildcard(wildcard, value)
  const texts = [operand].flat()
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string'))
    throw new Error("the event pattern's anything-but has other than texts")
  return (value) => value !== undefined && !texts.includes(value as string)
}
