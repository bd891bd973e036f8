import type { PolicyDocument } from '../../model.ts'
import { AwsError } from '../wire/aws-error.ts'
import { askPolicy, compilePolicies, type CompiledPolicy } from './policy.ts'
import type { Principal } from './principal.ts'

/** One action on one resource, as AWS's service authorization reference lists them. */
export interface AccessRequest {
  action: string
  /** An ARN, or `*` for actions that have no resource. */
  resource: string
  /** Condition keys by name, in lower case. */
  context?: Record<string, string | readonly string[] | undefined>
  /** The policy of the resource itself and what it means: `required` as in KMS, `additional` as in SQS. */
  resourcePolicy?: { policy: CompiledPolicy; role: 'required' | 'additional' }
}

/** Returns if the caller may, throws AWS's AccessDeniedException if not. */
export type Authorize = (request: AccessRequest) => void

/** The authorization of the account's owner, who may do all. */
export const authorizeOwner: Authorize = () => undefined

/** Somebody who acts in a role: a function, or a person who has taken it on. */
export interface RoleSession {
  /** What it is called in a message: `function jwks`. */
  origin: string
  roleArn: string
  /** ARN of the session, as AWS tells it. */
  arn: string
  policies: PolicyDocument[]
}

/** The authorization of one session: its role's policies, and those of the resources that it reaches for. */
export function authorizeSession(
  { origin, roleArn, arn: user, policies }: RoleSession,
  account: { accountId: string; region: string },
): Authorize {
  const identity = compilePolicies(policies, origin)
  const role: Principal = { kind: 'role', roleArn, accountId: account.accountId }
  const common: [string, string][] = [
    ['aws:principalarn', roleArn],
    ['aws:principalaccount', account.accountId],
    ['aws:requestedregion', account.region],
    ['aws:resourceaccount', account.accountId],
    // On AWS the functions reach the services by TLS; the loopback interface stands in for it.
    ['aws:securetransport', 'true'],
    ['aws:viaawsservice', 'false'],
  ]

  return ({ action, resource, context = {}, resourcePolicy }) => {
    const values = new Map<string, string | readonly string[]>(common)
    // A multivalued key without any value is one that is absent.
    for (const [key, value] of Object.entries(context))
      if (value !== undefined && value.length > 0) values.set(key.toLowerCase(), value)
    const question = { action, resource, context: values, principal: role }
    const deny = (reason: string) => {
      throw new AwsError(
        'AccessDeniedException',
        `User: ${user} is not authorized to perform: ${action} on resource: ${resource} ${reason}`,
      )
    }

    const ofIdentity = askPolicy(identity, question)
    if (ofIdentity === 'Deny') deny('with an explicit deny in an identity-based policy')
    const ofResource = resourcePolicy && askPolicy(resourcePolicy.policy, question)
    if (ofResource === 'Deny') deny('with an explicit deny in a resource-based policy')
    if (ofResource === 'Allow') return
    if (
      resourcePolicy?.role === 'required' &&
      !delegatesToIam(resourcePolicy.policy, question, account.accountId)
    )
      deny(`because no resource-based policy allows the ${action} action`)
    if (ofIdentity !== 'Allow') deny(`because no identity-based policy allows the ${action} action`)
  }
}

/** Whether a key policy lets the account's own IAM policies decide. */
function delegatesToIam(
  policy: CompiledPolicy,
  question: Parameters<typeof askPolicy>[1],
  accountId: string,
): boolean {
  return askPolicy(policy, { ...question, principal: { kind: 'account', accountId } }) === 'Allow'
}

/** Whether a resource's policy lets an AWS service use it on behalf of `sourceArn`. */
export function serviceMay(
  policy: CompiledPolicy,
  request: { service: string; action: string; resource: string; sourceArn: string; accountId: string },
): boolean {
  const context = new Map([
    ['aws:sourcearn', request.sourceArn],
    ['aws:sourceaccount', request.accountId],
    ['aws:securetransport', 'true'],
    ['aws:viaawsservice', 'true'],
  ])
  const principal: Principal = { kind: 'service', name: request.service }
  return (
    askPolicy(policy, { action: request.action, resource: request.resource, context, principal }) === 'Allow'
  )
}
