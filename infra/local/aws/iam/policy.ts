import type { PolicyDocument, PolicyStatement } from '../../model.ts'
import { compileCondition, type ConditionContext, type ConditionTest } from './condition.ts'
import { compilePrincipal, type Principal } from './principal.ts'
import { compileWildcard } from './wildcard.ts'

/** A policy made ready to be asked many times. */
export interface CompiledPolicy {
  statements: CompiledStatement[]
}

interface CompiledStatement {
  effect: 'Allow' | 'Deny'
  matchesPrincipal: (principal: Principal) => boolean
  matchesAction: (action: string) => boolean
  matchesResource: (resource: string) => boolean
  conditions: ConditionTest[]
}

/** What is asked of a policy. */
export interface PolicyQuestion {
  action: string
  resource: string
  context: ConditionContext
  /** Whose request it is; policies without principals (identity-based ones) do not look at it. */
  principal: Principal
}

/** Compiles policy documents; throws on an operator, variable or condition key that could not be evaluated faithfully. */
export function compilePolicies(documents: PolicyDocument[], origin: string): CompiledPolicy {
  return {
    statements: documents.flatMap((document) =>
      document.Statement.map((statement) => {
        try {
          return compileStatement(statement)
        } catch (error) {
          throw new Error(`the policy of ${origin} cannot be evaluated: ${(error as Error).message}`, {
            cause: error,
          })
        }
      }),
    ),
  }
}

/** What the statements that match say: an explicit deny wins, silence is undefined. */
export function askPolicy(policy: CompiledPolicy, question: PolicyQuestion): 'Allow' | 'Deny' | undefined {
  let answer: 'Allow' | undefined
  for (const statement of policy.statements) {
    if (!statementMatches(statement, question)) continue
    if (statement.effect === 'Deny') return 'Deny'
    answer = 'Allow'
  }
  return answer
}

function statementMatches(statement: CompiledStatement, question: PolicyQuestion): boolean {
  return (
    statement.matchesAction(question.action) &&
    statement.matchesResource(question.resource) &&
    statement.matchesPrincipal(question.principal) &&
    statement.conditions.every((meets) => meets(question.context))
  )
}

function compileStatement(statement: PolicyStatement): CompiledStatement {
  if ('NotPrincipal' in statement) throw new Error('NotPrincipal is not known to the local IAM')
  if (JSON.stringify(statement).includes('${'))
    throw new Error('policy variables are not known to the local IAM')
  return {
    effect: statement.Effect,
    matchesPrincipal: compilePrincipal(statement.Principal),
    matchesAction: compileMatch(statement.Action, statement.NotAction, 'i'),
    matchesResource: compileMatch(statement.Resource, statement.NotResource, ''),
    conditions: Object.entries(statement.Condition ?? {}).flatMap(([operator, keys]) =>
      Object.entries(keys).map(([key, values]) =>
        compileCondition(operator, key, (Array.isArray(values) ? values : [values]).map(String)),
      ),
    ),
  }
}

/** Neither given matches all: a resource policy without `Resource` speaks of the resource that it is attached to. */
function compileMatch(
  wanted: string | string[] | undefined,
  unwanted: string | string[] | undefined,
  flags: string,
): (text: string) => boolean {
  const list = wanted ?? unwanted
  if (list === undefined) return () => true
  const patterns = (Array.isArray(list) ? list : [list]).map((pattern) => compileWildcard(pattern, flags))
  const expected = wanted !== undefined
  return (text) => patterns.some((pattern) => pattern.test(text)) === expected
}
