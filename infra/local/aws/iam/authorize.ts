import type { PolicyDocument, StackModel } from '../../model.ts'
import { compilePolicies, evaluatePolicy, type CompiledPolicy, type PolicyQuestion } from './policy.ts'

/** One action on one resource, as AWS's service authorization reference lists them. */
export interface AccessRequest {
  action: string
  /** An ARN, or `*` for actions without a resource. Of a list one must be allowed, and none denied. */
  resource: string | string[]
  /** Condition keys by name, in any case; the request lacks those that are undefined or empty. */
  context?: Record<string, string | readonly string[] | undefined>
  /** The policy of the resource itself: `required` to allow the call (KMS), or `additional` (SQS). */
  resourcePolicy?: { policy: CompiledPolicy; role: 'required' | 'additional' }
}

/** Answers why a request is denied, in AWS's words; undefined if it is allowed. */
export type FindDenial = (request: AccessRequest) => string | undefined

/** A function, or a person who has assumed a role. `origin` is its name in errors: `function jwks`. */
export interface RoleSession {
  origin: string
  roleArn: string
  policies: PolicyDocument[]
}

/** Compiles the policies of the session `arn`; throws on one that cannot be evaluated. */
export function compileSession(
  arn: string,
  { origin, roleArn, policies }: RoleSession,
  { accountId }: StackModel,
): FindDenial {
  const identity = compilePolicies(policies, origin)
  const common: AccessRequest['context'] = {
    'aws:PrincipalArn': roleArn,
    'aws:PrincipalAccount': accountId,
    // On AWS functions reach the services by TLS; here the loopback interface takes its place.
    'aws:SecureTransport': 'true',
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

// The order of AWS's evaluation: explicit denies, then the resource's own policy, then the role's.
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
    // A key policy that allows the account as a whole lets the account's IAM policies decide.
    const asAccount: PolicyQuestion = { ...question, principal: { kind: 'account', accountId } }
    if (evaluatePolicy(resourcePolicy.policy, asAccount) !== 'Allow')
      return `because no resource-based policy allows the ${question.action} action`
  }
  if (byIdentity === 'Allow') return undefined
  return `because no identity-based policy allows the ${question.action} action`
}

/** Whether a resource's policy lets an AWS service use it on behalf of `sourceArn`. */
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
