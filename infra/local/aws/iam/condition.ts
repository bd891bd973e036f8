/** A request's condition keys (in lower case) and their values: lists for keys that AWS calls multivalued. */
export type ConditionContext = ReadonlyMap<string, string | readonly string[]>

/** A compiled IAM condition: tells whether the context of a request meets it. */
export type ConditionTest = (context: ConditionContext) => boolean

/**
 * The condition keys that a policy may name here, in lower case. If a policy names another key, the local
 * stack does not start, because no request would have the key. An exception is kms:ResourceAliases: no
 * request has it, because local KMS keys have no aliases.
 */
const knownKeys = new Set(
  `aws:principalaccount aws:principalarn aws:securetransport aws:sourceaccount aws:sourcearn aws:tagkeys
  dynamodb:leadingkeys events:detail-type events:source kms:encryptioncontextkeys kms:keyspec kms:keyusage
  kms:macalgorithm kms:messagetype kms:resourcealiases kms:signingalgorithm lambda:functionarn ses:fromaddress
  ses:recipients`.split(/\s+/),
)
const knownPrefixes = ['aws:principaltag/', 'aws:requesttag/', 'aws:resourcetag/', 'kms:encryptioncontext:']

/** Compiles an IAM condition operator with its key and values. Throws on an unsupported operator or key. */
export function compileCondition(operator: string, key: string, expected: string[]): ConditionTest {
  const name = key.toLowerCase()
  if (!knownKeys.has(name) && !knownPrefixes.some((prefix) => name.startsWith(prefix) && name !== prefix))
    throw new Error(`condition key ${key} is not known to the local IAM`)
  const [, quantifier, base = operator, ifExists] =
    /^(?:(ForAllValues|ForAnyValue):)?([A-Za-z]+?)(IfExists)?$/.exec(operator) ?? []
  if (base === 'Null') return (context) => context.has(name) !== expected.includes('true')

  const negated = /Not(?=Equals|Like)/.test(base)
  const matches = compileOperator(base.replace(/Not(?=Equals|Like)/, ''))
  const test = (value: string) => expected.some((pattern) => matches(pattern, value)) !== negated
  return (context) => {
    const actual = context.get(name)
    if (actual === undefined)
      return ifExists !== undefined || quantifier === 'ForAllValues' || (negated && quantifier === undefined)
    const values = typeof actual === 'string' ? [actual] : actual
    return quantifier === 'ForAllValues' ? values.every(test) : values.some(test)
  }
}

function compileOperator(base: string): (expected: string, actual: string) => boolean {
  switch (base) {
    case 'StringEquals':
    case 'Bool':
      return (expected, actual) => expected === actual
    case 'StringLike':
      return matchesWildcard
    case 'ArnEquals':
    case 'ArnLike':
      return matchesArn
    default:
      throw new Error(`condition operator ${base} is not known to the local IAM`)
  }
}

// Compares ARNs part by part: a `*` in the first five parts does not match a colon.
function matchesArn(pattern: string, arn: string): boolean {
  const parts = splitArn(arn)
  const patterns = splitArn(pattern)
  return (
    parts.length === patterns.length &&
    patterns.every((part, index) => matchesWildcard(part, parts[index] ?? ''))
  )
}

function splitArn(arn: string): string[] {
  const parts = arn.split(':')
  return parts.length <= 6 ? parts : [...parts.slice(0, 5), parts.slice(5).join(':')]
}

const wildcards = new Map<string, RegExp>()

/** Whether a text matches an IAM pattern with `*` (any text) and `?` (one character). */
export function matchesWildcard(pattern: string, text: string, flags = ''): boolean {
  const key = `${flags}/${pattern}`
  let compiled = wildcards.get(key)
  if (compiled === undefined) {
    const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&')
    compiled = new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, `s${flags}`)
    wildcards.set(key, compiled)
  }
  return compiled.test(text)
}
