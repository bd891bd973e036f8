import { Duration, Stack, type StackProps } from 'aws-cdk-lib'
import { AnyPrincipal, Effect, PolicyStatement, type PolicyStatementProps } from 'aws-cdk-lib/aws-iam'
import { AttributeType, Billing, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Key, type KeyProps, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'
import { indexName } from '../../shared/db/table-layout.ts'
import type { Config } from '../config.ts'
import { removalPolicy } from '../constructs/removal-policy.ts'
import { serviceTag, stageTagName } from '../names.ts'

/** The data that must never be lost: the table, and the KMS keys without which its contents are useless. */
export class DataStack extends Stack {
  readonly table: TableV2
  /**
   * KMS key for the MAC of each password before hashing, so that a stolen table cannot be attacked offline.
   */
  readonly macKey: Key
  /** KMS key that encrypts TOTP secrets. */
  readonly totpKey: Key
  /**
   * KMS key of the queues whose events hold password digests or secrets. The local stack, whose queues are
   * files on the developer's disk, has none.
   */
  readonly eventKey: Key | undefined

  constructor(scope: Construct, id: string, props: StackProps & { config: Config }) {
    super(scope, id, props)
    const { config } = props
    // A stage without protection is meant to leave as little behind as KMS allows.
    const keyRemoval = {
      removalPolicy: removalPolicy(config),
      ...(config.protectData ? {} : { pendingWindow: Duration.days(7) }),
    }
    this.table = new TableV2(this, 'Table', {
      tableName: config.serviceName,
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      globalSecondaryIndexes: [
        {
          indexName,
          partitionKey: { name: 'gpk', type: AttributeType.STRING },
          sortKey: { name: 'gsk', type: AttributeType.STRING },
          projectionType: ProjectionType.KEYS_ONLY,
        },
      ],
      billing: Billing.onDemand(),
      timeToLiveAttribute: 'ttl',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: 35 },
      deletionProtection: config.protectData,
      removalPolicy: removalPolicy(config),
    })
    this.macKey = new Key(this, 'MacKey', {
      description: `${config.stage}: digests passwords`,
      keySpec: KeySpec.HMAC_256,
      keyUsage: KeyUsage.GENERATE_VERIFY_MAC,
      ...keyRemoval,
    })
    this.totpKey = new Key(this, 'TotpKey', {
      description: `${config.stage}: encrypts TOTP secrets`,
      enableKeyRotation: true,
      ...keyRemoval,
    })
    protect(this.macKey, config, ['kms:GenerateMac'])
    protect(this.totpKey, config, ['kms:Encrypt', 'kms:Decrypt'])
    this.eventKey = config.stage === 'local' ? undefined : this.addEventKey(config, keyRemoval)
  }

  private addEventKey(config: Config, keyRemoval: KeyProps): Key {
    const key = new Key(this, 'EventKey', {
      description: `${config.stage}: encrypts queued events that hold secrets`,
      enableKeyRotation: true,
      ...keyRemoval,
    })
    // What SQS needs of who sends to, or receives from, an encrypted queue (SQS: Key management).
    protect(key, config, ['kms:GenerateDataKey', 'kms:Decrypt'])
    limitReaders(key, config)
    return key
  }
}

/**
 * Denies the use of the key of queues other than through SQS, and, if the stage names its operators, to
 * anybody but them, the service's roles and EventBridge. Operators redrive and show dead letters.
 */
function limitReaders(key: Key, config: Config): void {
  const deny = (conditions: Record<string, Record<string, unknown>>) =>
    key.addToResourcePolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['kms:Decrypt', 'kms:Encrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:CreateGrant'],
        resources: ['*'],
        conditions: { Bool: { 'aws:PrincipalIsAWSService': 'false' }, ...conditions },
      }),
    )
  const { region, urlSuffix } = Stack.of(key)
  deny({ StringNotEquals: { 'kms:ViaService': `sqs.${region}.${urlSuffix}` } })
  const { operator } = config.senders
  if (operator)
    deny({
      ArnNotEquals: { 'aws:PrincipalArn': operator },
      StringNotEquals: { [`aws:PrincipalTag/${serviceTag.name}`]: serviceTag.value },
    })
}

/**
 * Denies in a key's own policy, whatever IAM policies allow, that a role of the service does more with it
 * than `actions`, and that a role of another stage does anything with it. It keeps a captured function from
 * tagging, disabling or deleting the key. Roles of the service have its tags; those that deploy have not.
 */
function protect(key: Key, { stage }: Config, actions: string[]): void {
  const ofService = { [`aws:PrincipalTag/${serviceTag.name}`]: serviceTag.value }
  const ofOtherStage = { [`aws:PrincipalTag/${stageTagName}`]: stage }
  const deny = (what: Pick<PolicyStatementProps, 'actions' | 'notActions' | 'conditions'>) =>
    key.addToResourcePolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        resources: ['*'],
        ...what,
      }),
    )
  deny({ notActions: actions, conditions: { StringEquals: ofService } })
  deny({ actions, conditions: { StringEquals: ofService, StringNotEquals: ofOtherStage } })
}
