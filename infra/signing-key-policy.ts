import { namePrefix, tagsOf } from './names.ts'

/**
 * Name of the role that rotates the signing keys. The name is fixed, because the key policies contain it. The
 * region is in the name, because after a failover the account has two such roles.
 */
export const rotationRoleName = (stage: string, region: string): string =>
  `${namePrefix(stage)}rotate-signing-keys-${region}`

/** Pattern that matches the ARN of every role and user, so that only IAM policies decide who is allowed. */
export const anyPrincipal = 'arn:*:iam::*:*'

/**
 * The policy of every signing key of a stage. Only the service's roles may sign. Only the rotation,
 * `breakGlass` and the account's root user may disable or delete the key or change its policy. Only
 * `breakGlass` and the root user may share the key (grants, replicas, tags). KMS creates a key only if its
 * creator may change the key's policy ("policy lockout safety check", KMS API reference, CreateKey). So the
 * policy names the rotation's role, which creates the keys, as `Principal`. It selects all other roles and
 * users by conditions, because they may not exist yet, and KMS refuses a `Principal` that does not exist.
 */
export function signingKeyPolicy(
  { partition, account, region }: Record<'partition' | 'account' | 'region', string>,
  { stage, breakGlass }: { stage: string; breakGlass: readonly string[] },
) {
  const iam = `arn:${partition}:iam::${account}`
  const allow = (who: string, actions: string, Condition?: Record<string, Record<string, string[]>>) => ({
    Effect: 'Allow' as const,
    Principal: { AWS: `${iam}:${who}` },
    Action: actions.split(' ').map((action) => `kms:${action}`),
    Resource: '*',
    ...(Condition && { Condition }),
  })
  const retire = 'DisableKey PutKeyPolicy ScheduleKeyDeletion'
  const share = 'CreateGrant ReplicateKey RevokeGrant TagResource UntagResource'
  const tags = Object.entries(tagsOf(stage)).map(([name, value]) => [`aws:PrincipalTag/${name}`, [value]])
  return {
    Version: '2012-10-17',
    Statement: [
      allow('root', 'CancelKeyDeletion Describe* EnableKey Get* List* Verify'),
      allow('root', 'Sign', { StringEquals: Object.fromEntries(tags) as Record<string, string[]> }),
      allow(`role/${rotationRoleName(stage, region)}`, retire),
      allow('root', `${retire} ${share}`, {
        ArnLike: { 'aws:PrincipalArn': [`${iam}:root`, ...breakGlass] },
      }),
    ],
  }
}
