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
  /** ARNs of the keys that nobody changes outside a deployment. */
  keys: string[]
  /** Name of the rule of changes, without the stage's prefix; the queue is called `…-dead-letters`. */
  name: string
  /** Whether to watch all other keys, too, and signatures. */
  watchesAll: boolean
}

/** Name of the rule and the alarm of signatures, without the stage's prefix. */
export const foreignSignatures = 'foreign-signatures'

/** What the rotation does to signing keys that have retired. */
const rotationActions = ['DisableKey', 'ScheduleKeyDeletion']

/** Further actions that make a key unusable or usable, or change who may use it, and where (AWS KMS: API). */
const otherActions =
  'CancelKeyDeletion DeleteImportedKeyMaterial DisableKeyRotation EnableKey PutKeyPolicy ReplicateKey TagResource UntagResource UpdatePrimaryRegion'.split(
    ' ',
  )

/**
 * Counts the changes of KMS keys that CloudTrail records, also those that KMS refused, and keeps them in a
 * queue. It watches changes of `keys` by anybody. With `watchesAll` it also watches all other keys,
 * because CloudTrail does not say which deployment owns a signing key. Of those, it leaves out what a
 * rotation does to retired keys, grants that AWS services make for themselves, and the service's own
 * signatures.
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

/** The alarm on a rule of KeyChanges, whose name it has. */
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
