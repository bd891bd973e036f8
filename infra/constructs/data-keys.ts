import { Duration } from 'aws-cdk-lib'
import { AccountRootPrincipal, AnyPrincipal, Effect, type IPrincipal } from 'aws-cdk-lib/aws-iam'
import { PolicyDocument, PolicyStatement, type PolicyStatementProps } from 'aws-cdk-lib/aws-iam'
import type { Config } from '../config.ts'
import { serviceTag, stageTagName } from '../names.ts'
import { removalPolicy } from './removal-policy.ts'

const macKey = { purpose: 'digests passwords', actions: ['GenerateMac'] }
const otherKeys: Record<string, typeof macKey> = {
  TotpKey: { purpose: 'encrypts TOTP secrets', actions: ['Encrypt', 'Decrypt'] },
  EvidenceKey: {
    purpose: 'signs the evidence of key rotation',
    actions: ['Sign', 'Verify', 'DescribeKey', 'GetKeyPolicy', 'GetPublicKey', 'ListResourceTags'],
  },
}

/**
 * The policy of a KMS key for passwords, TOTP secrets or evidence. The account's IAM policies decide who may
 * use the key. But the service's roles may perform only actions that suit the key's purpose. `owner` is the
 * account's root principal.
 */
export function dataKeyPolicy(
  name: string,
  config: Pick<Config, 'stage'>,
  owner: IPrincipal = new AccountRootPrincipal(),
): PolicyDocument {
  const actions = (otherKeys[name] ?? macKey).actions.map((action) => `kms:${action}`)
  const delegation = new PolicyStatement({ principals: [owner], actions: ['kms:*'], resources: ['*'] })
  return new PolicyDocument({ statements: [delegation, ...limitActions(config, actions)] })
}

/** Description of a data key in KMS. */
export const describeKey = (name: string, { stage }: Config): string =>
  `${stage}: ${(otherKeys[name] ?? macKey).purpose}`

/** Name of the stack output with the ARN of a data key. */
export const arnOutput = (name: string): string => `${name}Arn`

/**
 * How a KMS key of the data stack, or its replica, is removed. Without `protectData`, KMS deletes the key
 * after seven days, the minimum.
 */
export const keyRemoval = (config: Config) => ({
  removalPolicy: removalPolicy(config),
  ...(config.protectData ? {} : { pendingWindow: Duration.days(7) }),
})

/**
 * With `protectData`, KMS rotates an encryption key every year, otherwise as rarely as possible. Each of the
 * first two rotations adds a dollar a month to the price (AWS KMS pricing).
 */
export const keyRotation = ({ protectData }: Config) => ({
  enableKeyRotation: true,
  rotationPeriod: Duration.days(protectData ? 365 : 2_560),
})

/**
 * Denials for a key policy, which no IAM policy can override. This stage's roles may perform only `actions`,
 * and other stages' roles may do nothing. Principals without the service's tag, such as the deploying role,
 * cannot sign with the key.
 */
export function limitActions(
  { stage }: Pick<Config, 'stage'>,
  actions: readonly string[],
): PolicyStatement[] {
  const ofService = { [`aws:PrincipalTag/${serviceTag.name}`]: serviceTag.value }
  const ofOtherStage = { [`aws:PrincipalTag/${stageTagName}`]: stage }
  return [
    deny({ notActions: [...actions], conditions: { StringEquals: ofService } }),
    deny({ actions: [...actions], conditions: { StringEquals: ofService, StringNotEquals: ofOtherStage } }),
    deny({ actions: ['kms:Sign'], conditions: { StringNotEquals: ofService } }),
  ]
}

/** A statement for a key policy: everybody who meets the conditions is denied the actions. */
export const deny = (what: Pick<PolicyStatementProps, 'actions' | 'notActions' | 'conditions'>) =>
  new PolicyStatement({ effect: Effect.DENY, principals: [new AnyPrincipal()], resources: ['*'], ...what })
