import { Aws, Duration } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { type CfnRule, Rule } from 'aws-cdk-lib/aws-events'
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { signingAlgorithm } from '../../shared/aws/signing-key-names.ts'
import type { Config } from '../config.ts'
import { serviceTag } from '../names.ts'
import type { AlarmSpec } from './add-alarms.ts'

interface KeyChangesProps {
  config: Config
  /** ARNs of the KMS keys that only a deployment should change. */
  keys: string[]
  /**
   * Name of the rule for events of key changes, without the stage's prefix. The rule's queue is
   * `NAME-dead-letters`.
   */
  name: string
  /** Whether to also count signatures that the service did not make, and unusual changes of any KMS key. */
  watchesAll: boolean
}

/** Name (without the stage's prefix) of the rule and alarm for signatures that the service did not make. */
export const foreignSignatures = 'foreign-signatures'

/** The KMS actions that the rotation performs on retired signing keys. */
const rotationActions = ['DisableKey', 'ScheduleKeyDeletion']

/** KMS actions that change a key or its use, except those that the rotation needs (AWS KMS: API). */
const otherActions =
  'CancelKeyDeletion DeleteImportedKeyMaterial DisableKeyRotation EnableKey PutKeyPolicy ReplicateKey TagResource UntagResource UpdatePrimaryRegion'.split(
    ' ',
  )

/**
 * Counts changes of `keys`, and refused attempts at a change, as CloudTrail reports them. A queue keeps the
 * reports. With `watchesAll`, also counts unusual changes of any KMS key, and signatures that are not the
 * service's own.
 */
export class KeyChanges extends Construct {
  constructor(scope: Construct, id: string, props: KeyChangesProps) {
    super(scope, id)
    const { config, keys, name, watchesAll } = props
    const queue = new Queue(this, 'Queue', {
      queueName: `${config.namePrefix}${name}-dead-letters`,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    })
    const addRule = (id: string, ruleName: string, description: string, detail: object) =>
      new Rule(this, id, {
        ruleName: config.namePrefix + ruleName,
        description: `${config.stage}: ${description}`,
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
    const changes = watchesAll ? { $or: [ofOurs, ...ofOthers] } : ofOurs
    addRule('Rule', name, 'counts changes of KMS keys', changes)
    if (!watchesAll) return
    const signatures = addRule('Signatures', foreignSignatures, 'counts signatures of strangers', {
      eventName: ['Sign'],
      userIdentity: byAnybodyBut('*'),
      // Also matches every refused call, because CloudTrail can omit the parameters of a refused call.
      $or: [
        { requestParameters: { signingAlgorithm: [signingAlgorithm] } },
        { errorCode: [{ exists: true }] },
      ],
    })
    // CloudTrail logs Sign as a read-only event. A rule receives such events only in this state (EventBridge:
    // Receiving read-only management events). Events that do not match cost nothing. A metric filter would
    // cost $0.50 per GB of read-only events.
    const rule = signatures.node.defaultChild as CfnRule
    rule.state = 'ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS'
  }
}

/**
 * Matches every caller except the service's functions, of any stage, whose names match `functionName`.
 * Recognizes them by the session's ARN, which contains the names of the role and of the function. Only people
 * with the auditor's role could choose such a session name, and they can change nothing.
 */
const byAnybodyBut = (functionName: string) => {
  const ours = `arn:${Aws.PARTITION}:sts::${Aws.ACCOUNT_ID}:assumed-role/${serviceTag.value}-`
  const wildcard = `${ours}*/${serviceTag.value}-${functionName}`
  return { arn: [{ exists: false }, { 'anything-but': { wildcard } }] }
}

/** The alarm on a rule of KeyChanges. Alarm and rule have the same name: the stage's prefix, then `id`. */
export const keyAlarm = (id: string, { namePrefix }: Config): AlarmSpec => ({
  id,
  name: namePrefix + id,
  meaning:
    id === foreignSignatures
      ? 'A stranger signed with a KMS key as the service does, or tried to.'
      : 'Somebody disabled, deleted, replicated, tagged or shared a KMS key, undid that, or tried to.',
  runbook: id === foreignSignatures ? id : 'key-changes',
  metric: new Metric({
    namespace: 'AWS/Events',
    metricName: 'TriggeredRules',
    dimensionsMap: { RuleName: namePrefix + id },
    statistic: 'Sum',
    period: Duration.minutes(5),
  }),
  threshold: 1,
})
