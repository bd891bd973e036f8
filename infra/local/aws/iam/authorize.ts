import type { PolicyDocument, StackModel } from '../../model.ts'
import { compilePolicies, evaluatePolicy, type CompiledPolicy, type PolicyQuestion } from './policy.ts'

/** Access that IAM allows or denies: an action on a resource, as in AWS's service authorization reference. */
export interface AccessRequest {
  action: string
  /** The resource's ARNs, or `*` if there is none. One of the ARNs must be allowed, and none denied. */
  resource: string | string[]
  /** Values of case-insensitive condition keys. An undefined or empty value counts as a missing key. */
  context?: Record<string, string | readonly string[] | undefined>
  /**
   * The resource's own policy. With `additional`, either this policy or an IAM policy is enough to allow
   * access. With `required` (KMS), an IAM policy is enough only if this policy allows the whole account.
   */
  resourcePolicy?: { policy: CompiledPolicy; role: 'required' | 'additional' }
}

/** Converts tags to IAM condition keys such as `aws:PrincipalTag/NAME`. */
export const tagContext = (prefix: string, tags: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(tags).map(([name, value]) => [`${prefix}/${name}`, value]))

/** Returns why a request is denied, in AWS's words; undefined if it is allowed. */
export type FindDenial = (request: AccessRequest) => string | undefined

/**
 * Role in which a function or person acts. `origin`, such as `function jwks`, identifies the role in error
 * messages.
 */
export interface RoleSession {
  origin: string
  roleArn: string
  roleTags: Record<string, string>
  policies: PolicyDocument[]
}

/** Compiles the policies of the session with this ARN. Throws on a policy that cannot be emulated. */
export function compileSession(
  arn: string,
  { origin, roleArn, roleTags, policies }: RoleSession,
  { accountId }: StackModel,
): FindDenial {
  const identity = compilePolicies(policies, origin)
  const common: AccessRequest['context'] = {
    'aws:PrincipalArn': roleArn,
    'aws:PrincipalAccount': accountId,
    // Calls count as encrypted, as they would be on AWS, although the loopback interface needs no TLS.
    'aws:SecureTransport': 'true',
    ...tagContext('aws:PrincipalTag', roleTags),
  }
  return ({ action, resource, context, resourcePolicy }) => {
    const values = new Map<string, string | readonly string[]>()
    for (const [key, value = ''] of Object.entries({ ...common, ...context }))
      if (value.length > 0) values.set(key.toLowerCase(), value)
    const denials = [resource].flat().map((one) => {
      const principal = { kind: 'role', roleArn, accountId } as const
      const question = { action, resource: one, context: values, principal }
      const reason = findReason(question, identity, resourcePolicy, accountId)
      return reason && `User: ${arn} is not authorized to perform: ${action} on resource: ${one} ${reason}`
    })
    const explicit = denials.find((denial) => denial?.includes(' with an explicit deny '))
    return explicit ?? (denials.includes(undefined) ? undefined : denials.at(-1))
  }
}

// Finds the reason for a denial, in AWS's order: explicit denies, the resource's policy, the role's policies.
function findReason(
  question: PolicyQuestion,
  identity: CompiledPolicy,
  resourcePolicy: AccessRequest['resourcePolicy'],
  accountId: string,
): string | undefined {
  const byIdentity = evaluatePolicy(identity, question)
  if (byIdentity === 'Deny') return 'with an explicit deny in an identity-based policy'
  const byResource = resourcePolicy && evaluatePolicy(resourcePolicy.policy, question)
  if (byResource === 'Deny') return 'with an explicit deny in a resource-based policy'
  if (byResource === 'Allow') return undefined
  if (resourcePolicy?.role === 'required') {
    // If a key policy allows the whole account, the account's IAM policies decide.
    const asAccount: PolicyQuestion = { ...question, principal: { kind: 'account', accountId } }
    if (evaluatePolicy(resourcePolicy.policy, asAccount) !== 'Allow')
      return `because no resource-based policy allows the ${question.action} action`
  }
  if (byIdentity === 'Allow') return undefined
  return `because no identity-based policy allows the ${question.action} action`
}

/** Whether a resource's policy allows an AWS service to use the resource on behalf of `sourceArn`. */
export function allowsService(
  policy: CompiledPolicy,
  request: { service: string; action: string; resource: string; sourceArn: string; accountId: string },
): boolean {
  const { action, resource, service, sourceArn, accountId } = request
  const context = new Map([
    ['aws:sourcearn', sourceArn],
    ['aws:sourceaccount', accountId],
    ['aws:securetransport', 'true'],
  ])
  const principal = { kind: 'service', name: service } as const
  return evaluatePolicy(policy, { action, resource, context, principal }) === 'Allow'
}
