import { Rule } from 'aws-cdk-lib/aws-events'
import type { IRole } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'

interface KeyChangesProps {
  config: Config
  /** Keys that nobody changes outside a deployment. */
  keys: IKey[]
  /** Role of the rotation, which disables and deletes signing keys. */
  rotationRole: IRole | undefined
}

/** Actions that end a key's service, or change who may use it (AWS KMS: API reference). */
const watchedActions = [
  'CreateGrant',
  'DeleteImportedKeyMaterial',
  'DisableKey',
  'PutKeyPolicy',
  'ScheduleKeyDeletion',
  'TagResource',
  'UntagResource',
]

/** Name of the rule that counts changes of keys; its metric is AWS/Events TriggeredRules. */
export const keyChangesRuleName = ({ namePrefix }: Config): string => `${namePrefix}key-changes`

/**
 * Matches changes of KMS keys that CloudTrail records, also denied ones: of `keys` by anybody, and of any
 * other key of the account and region by anybody but the rotation, because CloudTrail does not say whose a
 * signing key is. It has no target: a rule counts its matches in CloudWatch.
 */
export class KeyChanges extends Construct {
  constructor(scope: Construct, id: string, { config, keys, rotationRole }: KeyChangesProps) {
    super(scope, id)
    if (rotationRole === undefined) throw new Error('the stage has no rotation of signing keys')
    new Rule(this, 'Rule', {
      ruleName: keyChangesRuleName(config),
      description: `${config.stage}: counts changes of KMS keys`,
      eventPattern: {
        source: ['aws.kms'],
        detailType: ['AWS API Call via CloudTrail'],
        detail: {
          eventSource: ['kms.amazonaws.com'],
          eventName: watchedActions,
          $or: [
            { resources: { ARN: keys.map(({ keyArn }) => keyArn) } },
            {
              userIdentity: {
                // A person without a role, such as the account's owner, has no issuer.
                sessionContext: {
                  sessionIssuer: { arn: [{ exists: false }, { 'anything-but': [rotationRole.roleArn] }] },
                },
              },
            },
          ],
        },
      },
    })
  }
}
