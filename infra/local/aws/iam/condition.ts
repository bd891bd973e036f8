import { isKnownConditionKey } from './condition-keys.ts'
import { compileWildcard } from './wildcard.ts'

/** The request's condition keys, names in lower case; a list where AWS defines the key as multivalued. */
export type ConditionContext = ReadonlyMap<string, string | readonly string[]>

/** Tells whether a request's context meets one condition. */
export type ConditionTest = (context: ConditionContext) => boolean

type ValueTest = (value: string) => boolean

const numericComparisons: Record<string, (left: number, right: number) => boolean> = {
  NumericEquals: (left, right) => left === right,
  NumericLessThan: (left, right) => left < right,
  NumericLessThanEquals: (left, right) => left <= right,
  NumericGreaterThan: (left, right) => left > right,
  NumericGreaterThanEquals: (left, right) => left >= right,
}

/** Compiles one operator, key and list of values of a policy; throws on whatever is not understood here. */
export function compileCondition(operator: string, key: string, expected: string[]): ConditionTest {
  if (!isKnownConditionKey(key)) throw new Error(`condition key ${key} is not known to the local IAM`)
  const { quantifier, base, ifExists } = splitOperator(operator)
  const name = key.toLowerCase()
  if (base === 'Null') {
    const absent = expected.includes('true')
    return (context) => !context.has(name) === absent
  }
  const negated = /Not(?=Equals|Like)/.test(base)
  const positive = compileValueTest(base.replace(/Not(?=Equals|Like)/, ''), expected)
  const test: ValueTest = negated ? (value) => !positive(value) : positive
  return (context) => {
    const actual = context.get(name)
    if (actual === undefined)
      return ifExists || quantifier === 'ForAllValues' || (negated && quantifier === undefined)
    const values = typeof actual === 'string' ? [actual] : actual
    return quantifier === 'ForAllValues' ? values.every(test) : values.some(test)
  }
}

function splitOperator(operator: string) {
  const match = /^(?:(ForAllValues|ForAnyValue):)?([A-Za-z]+?)(IfExists)?$/.exec(operator)
  const base = match?.[2]
  if (base === undefined) throw new Error(`condition operator ${operator} is not known to the local IAM`)
  return { quantifier: match?.[1], base, ifExists: match?.[3] !== undefined }
}

function compileValueTest(base: string, expected: string[]): ValueTest {
  switch (base) {
    case 'StringEquals':
    case 'Bool':
      return (value) => expected.includes(value)
    case 'StringLike': {
      const patterns = expected.map((pattern) => compileWildcard(pattern))
      return (value) => patterns.some((pattern) => pattern.test(value))
    }
    case 'ArnEquals':
    case 'ArnLike': {
      const patterns = expected.map(compileArn)
      return (value) => patterns.some((pattern) => pattern(value))
    }
    default: {
      const compare = numericComparisons[base]
      if (compare === undefined) throw new Error(`condition operator ${base} is not known to the local IAM`)
      return (value) => expected.some((bound) => compare(Number(value), Number(bound)))
    }
  }
}

/** ARNs compare part by part: a `*` never reaches over a colon of the first five. */
function compileArn(pattern: string): ValueTest {
  const parts = splitArn(pattern).map((part) => compileWildcard(part))
  return (value) => {
    const actual = splitArn(value)
    return actual.length === parts.length && parts.every((part, index) => part.test(actual[index] ?? ''))
  }
}

function splitArn(arn: string): string[] {
  const parts = arn.split(':')
  return parts.length <= 6 ? parts : [...parts.slice(0, 5), parts.slice(5).join(':')]
}
