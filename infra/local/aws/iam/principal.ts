import * as v from 'valibot'

/** Who makes a request, as resource-based policies name them. */
export type Principal =
  | { kind: 'role'; roleArn: string; accountId: string }
  /** The account as a whole: how a key policy hands the decision over to IAM policies. */
  | { kind: 'account'; accountId: string }
  | { kind: 'service'; name: string }

const Names = v.union([v.string(), v.array(v.string())])
const PrincipalElement = v.union([
  v.literal('*'),
  v.strictObject({ AWS: v.optional(Names), Service: v.optional(Names) }),
])

/** Compiles a statement's `Principal`; without one (an identity-based policy) everybody matches. */
export function compilePrincipal(element: unknown): (principal: Principal) => boolean {
  if (element === undefined) return () => true
  const parsed = v.safeParse(PrincipalElement, element)
  if (!parsed.success) throw new Error('this form of Principal is not known to the local IAM')
  if (parsed.output === '*') return () => true
  const identities = [parsed.output.AWS ?? []].flat()
  const services = [parsed.output.Service ?? []].flat()
  return (principal) => {
    if (principal.kind === 'service') return services.includes(principal.name)
    if (identities.includes('*')) return true
    if (principal.kind === 'role') return identities.includes(principal.roleArn)
    return identities.some(
      (name) => name === principal.accountId || name === `arn:aws:iam::${principal.accountId}:root`,
    )
  }
}
