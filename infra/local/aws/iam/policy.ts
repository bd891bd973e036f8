import * as v from 'valibot'
import type { PolicyDocument, PolicyStatement } from '../../model.ts'
import { compileCondition, matchesWildcard, type ConditionContext } from './condition.ts'

/** The principal of a request, as resource-based policies name it. */
export type Principal =
  | { kind: 'role'; roleArn: string; accountId: string }
  /** The whole account. If a key policy allows this principal, IAM policies decide who may use the key. */
  | { kind: 'account'; accountId: string }
  | { kind: 'service'; name: string }

/** What a policy is evaluated for: who does which action on which resource, in which context. */
export interface PolicyQuestion {
  action: string
  resource: string
  context: ConditionContext
  /** Principal of the request; identity-based policies ignore it. */
  principal: Principal
}

/** A policy document, compiled once and evaluated for every request. */
export type CompiledPolicy = CompiledStatement[]

interface CompiledStatement {
  effect: 'Allow' | 'Deny'
  matches: (question: PolicyQuestion) => boolean
}

/** Compiles IAM policies. Throws on any part that is not emulated; `origin` names the policy in the error. */
export function compilePolicies(documents: PolicyDocument[], origin: string): CompiledPolicy {
  try {
    return documents.flatMap(({ Statement }) => Statement.map(compileStatement))
  } catch (error) {
    const reason = (error as Error).message
    throw new Error(`the policy of ${origin} cannot be evaluated: ${reason}`, { cause: error })
  }
}

/** Returns `Deny` if a matching statement denies, else `Allow` if one allows; undefined if none matches. */
export function evaluatePolicy(
  policy: CompiledPolicy,
  question: PolicyQuestion,
): 'Allow' | 'Deny' | undefined {
  const effects = new Set(policy.filter(({ matches }) => matches(question)).map(({ effect }) => effect))
  return effects.has('Deny') ? 'Deny' : [...effects][0]
}

function compileStatement(statement: PolicyStatement): CompiledStatement {
  if ('NotPrincipal' in statement) throw new Error('NotPrincipal is not known to the local IAM')
  if (JSON.stringify(statement).includes('${'))
    throw new Error('policy variables are not known to the local IAM')
  const matchesAction = compileMatch(statement.Action, statement.NotAction, 'i')
  const matchesResource = compileMatch(statement.Resource, statement.NotResource, '')
  const matchesPrincipal = compilePrincipal(statement.Principal)
  const conditions = Object.entries(statement.Condition ?? {}).flatMap(([operator, keys]) =>
    Object.entries(keys).map(([key, values]) => compileCondition(operator, key, [values].flat().map(String))),
  )
  return {
    effect: statement.Effect,
    matches: ({ action, resource, principal, context }) =>
      matchesAction(action) &&
      matchesResource(resource) &&
      matchesPrincipal(principal) &&
      conditions.every((meets) => meets(context)),
  }
}

// `included` is a statement's `Action` or `Resource`, `excluded` its `NotAction` or `NotResource`. If both
// are undefined, everything matches: a resource-based policy need not name its resource.
function compileMatch(
  included: string | string[] | undefined,
  excluded: string | string[] | undefined,
  flags: string,
): (text: string) => boolean {
  const patterns = [included ?? excluded ?? '*'].flat()
  const expected = included !== undefined || excluded === undefined
  return (text) => patterns.some((pattern) => matchesWildcard(pattern, text, flags)) === expected
}

const Names = v.optional(v.union([v.string(), v.array(v.string())]), [])
const PrincipalElement = v.union([v.literal('*'), v.strictObject({ AWS: Names, Service: Names })])

function compilePrincipal(element: unknown): (principal: Principal) => boolean {
  const parsed = v.safeParse(PrincipalElement, element ?? '*')
  if (!parsed.success) throw new Error('this form of Principal is not known to the local IAM')
  const { output } = parsed
  if (output === '*') return () => true
  const accounts = [output.AWS].flat()
  return (principal) => {
    if (principal.kind === 'service') return [output.Service].flat().includes(principal.name)
    if (accounts.includes('*')) return true
    if (principal.kind === 'role') return accounts.includes(principal.roleArn)
    const { accountId } = principal
    return accounts.some((name) => name === accountId || name === `arn:aws:iam::${accountId}:root`)
  }
}
