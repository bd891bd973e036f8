import { Aws, Duration } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { type CfnRule, Rule } from 'aws-cdk-lib/aws-events'
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { signingAlgorithm } from '../../shared/aws/signing-key-names.ts'
import { serviceTag } from '../names.ts'
import type { AlarmSpec } from './add-alarms.ts'

interface KeyChangesProps {
  stage: string
  /** ARNs of the keys that nobody changes outside a deployment. */
  keys: string[]
  /** Name of the rule that matches changes; its queue is called `…-dead-letters`. */
  changesName: string
  /** Name of the rule that matches signatures of strangers. Without it, only `keys` are watched. */
  signaturesName?: string
}

/** What the rotation does to signing keys that have retired. */
const rotationActions = ['DisableKey', 'ScheduleKeyDeletion']

/** Further actions that make a key unusable or usable, or change who may use it, and where (AWS KMS: API). */
const otherActions = [
  'CancelKeyDeletion',
  'DeleteImportedKeyMaterial',
  'DisableKeyRotation',
  'EnableKey',
  'PutKeyPolicy',
  'ReplicateKey',
  'TagResource',
  'UntagResource',
  'UpdatePrimaryRegion',
]

/**
 * Counts the changes of KMS keys that CloudTrail records, also those that KMS refused, and keeps them in a
 * queue. It watches changes of `keys` by anybody. With a `signaturesName` it also watches all other keys,
 * because CloudTrail does not say which deployment owns a signing key. Of those, it leaves out what a
 * rotation does to retired keys, grants that AWS services make for themselves, and the service's own
 * signatures.
 */
export class KeyChanges extends Construct {
  constructor(scope: Construct, id: string, props: KeyChangesProps) {
    super(scope, id)
    const { stage, keys, changesName, signaturesName } = props
    const queue = new Queue(this, 'Queue', {
      queueName: `${changesName}-dead-letters`,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    })
    const addRule = (id: string, ruleName: string, description: string, detail: object) =>
      new Rule(this, id, {
        ruleName,
        description: `${stage}: ${description}`,
        eventPattern: {
          source: ['aws.kms'],
          detailType: ['AWS API Call via CloudTrail'],
          detail: { eventSource: ['kms.amazonaws.com'], ...detail },
        },
        targets: [new SqsQueue(queue)],
      })
    const eventName = [...otherActions, ...rotationActions, 'CreateGrant']
    const ofOurs = { eventName, resources: { ARN: keys } }
    const ofOthers = [
      { eventName: otherActions },
      { eventName: rotationActions, userIdentity: byAnybodyBut('*-rotate-signing-keys') },
      { eventName: ['CreateGrant'], userIdentity: { invokedBy: [{ exists: false }] } },
    ]
    const changes = signaturesName === undefined ? ofOurs : { $or: [ofOurs, ...ofOthers] }
    addRule('Rule', changesName, 'counts changes of KMS keys', changes)
    if (signaturesName === undefined) return
    const signatures = addRule('Signatures', signaturesName, 'counts signatures that are not the service’s', {
      eventName: ['Sign'],
      userIdentity: byAnybodyBut('*'),
      // Of a refused call, CloudTrail may not have the parameters.
      $or: [
        { requestParameters: { signingAlgorithm: [signingAlgorithm] } },
        { errorCode: [{ exists: true }] },
      ],
    })
    // CloudTrail takes signatures for reads, of which a rule gets none by default (EventBridge: Receiving
    // read-only management events). Those that do not match cost nothing. A metric filter would need all of
    // them in CloudWatch Logs, at $0.50 a GB; LookupEvents answers twice a second and leaves out no callers.
    const rule = signatures.node.defaultChild as CfnRule
    rule.state = 'ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS'
  }
}

/**
 * Callers other than this account's functions of that name, of whichever stage: in a session of Lambda, the
 * function's name follows the role's. People can assume no such role but the auditor's, which only reads.
 */
const byAnybodyBut = (functionName: string) => {
  const ours = `arn:${Aws.PARTITION}:sts::${Aws.ACCOUNT_ID}:assumed-role/${serviceTag.value}-`
  const wildcard = `${ours}*/${serviceTag.value}-${functionName}`
  return { arn: [{ exists: false }, { 'anything-but': { wildcard } }] }
}

const alarms = {
  changes: {
    meaning: 'Somebody disabled, deleted, replicated, tagged or shared a KMS key, undid that, or tried to.',
    runbook: 'key-changes',
  },
  signatures: {
    meaning: 'Somebody other than the service signed with a KMS key as the service does, or tried to.',
    runbook: 'foreign-signatures',
  },
}

/** The alarm on a rule of KeyChanges; it has the rule's name. */
export const keyAlarm = (kind: keyof typeof alarms, id: string, ruleName: string): AlarmSpec => ({
  ...alarms[kind],
  id,
  name: ruleName,
  metric: new Metric({
    namespace: 'AWS/Events',
    metricName: 'TriggeredRules',
    dimensionsMap: { RuleName: ruleName },
    statistic: 'Sum',
    period: Duration.minutes(5),
  }),
  threshold: 1,
})
