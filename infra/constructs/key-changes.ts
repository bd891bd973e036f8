import { Duration } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { Rule } from 'aws-cdk-lib/aws-events'
import type { IRole } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import type { AlarmSpec } from './add-alarms.ts'

interface KeyChangesProps {
  stage: string
  /** ARNs of the keys that nobody changes outside a deployment. */
  keys: string[]
  /** Role that is expected to disable and delete signing keys. Without it, only `keys` are watched. */
  rotationRole?: IRole
  /** Name of the rule. */
  ruleName: string
}

/** Actions that make a key unusable, or change who may use it (AWS KMS: API reference). */
const watchedActions = [
  'CreateGrant',
  'DeleteImportedKeyMaterial',
  'DisableKey',
  'PutKeyPolicy',
  'ScheduleKeyDeletion',
  'TagResource',
  'UntagResource',
]

/**
 * Counts changes of KMS keys that CloudTrail records, denied ones included: changes of `keys` by anybody, and
 * with a `rotationRole` also changes of any other key by other roles, because CloudTrail does not say which
 * deployment owns a signing key. The rule has no target, because CloudWatch counts its matches.
 */
export class KeyChanges extends Construct {
  constructor(scope: Construct, id: string, { stage, keys, rotationRole, ruleName }: KeyChangesProps) {
    super(scope, id)
    const ours = { resources: { ARN: keys } }
    new Rule(this, 'Rule', {
      ruleName,
      description: `${stage}: counts changes of KMS keys`,
      eventPattern: {
        source: ['aws.kms'],
        detailType: ['AWS API Call via CloudTrail'],
        detail: {
          eventSource: ['kms.amazonaws.com'],
          eventName: watchedActions,
          ...(rotationRole ? { $or: [ours, byAnybodyBut(rotationRole)] } : ours),
        },
      },
    })
  }
}

const byAnybodyBut = ({ roleArn }: IRole) => ({
  userIdentity: {
    // A person without a role, such as the account's owner, has no issuer.
    sessionContext: { sessionIssuer: { arn: [{ exists: false }, { 'anything-but': [roleArn] }] } },
  },
})

/** The alarm on a rule that counts changes of keys; it has the rule's name. */
export const keyChangesAlarm = (id: string, ruleName: string): AlarmSpec => ({
  id,
  name: ruleName,
  meaning: 'Somebody disabled, deleted, tagged or granted a KMS key, or changed its policy, or tried to.',
  runbook: 'key-changes',
  metric: new Metric({
    namespace: 'AWS/Events',
    metricName: 'TriggeredRules',
    dimensionsMap: { RuleName: ruleName },
    statistic: 'Sum',
    period: Duration.minutes(5),
  }),
  threshold: 1,
})
