import { namePrefix, tagsOf } from './names.ts'

/**
 * Name of the rotation's role. It is fixed, so that the audit knows it. It names the region, because after a
 * failover the account has two such roles.
 */
export const rotationRoleName = (stage: string, region: string): string =>
  `${namePrefix(stage)}rotate-signing-keys-${region}`

/** Pattern that matches the ARN of every role and user, so that only IAM policies decide who is allowed. */
export const anyPrincipal = 'arn:*:iam::*:*'

/**
 * The policy of every signing key of a stage. Only roles of the service sign. Only `breakGlass` and the
 * account's root user share the key; only they and the rotation disable or delete it. The rotation needs no
 * IAM policy for this; other roles and users also need an IAM policy for each of these actions. All other
 * actions depend on IAM policies alone. The rotation may change the policy, without a condition: KMS refuses
 * a policy that its creator cannot change ("policy lockout safety check", KMS API reference, CreateKey).
 * Other principals are named in conditions, because KMS refuses a `Principal` that does not exist.
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
