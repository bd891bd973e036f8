import { CfnOutput, Stack, type StackProps, Tags } from 'aws-cdk-lib'
import { AttributeType, Billing, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Archive, EventBus, type EventPattern } from 'aws-cdk-lib/aws-events'
import { type IKey, Key, type KeyProps, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'
import { indexName } from '../../shared/db/partitions.ts'
import type { Config } from '../config.ts'
import {
  arnOutput,
  dataKeyPolicy,
  deny,
  describeKey,
  keyRemoval,
  keyRotation,
  limitActions,
} from '../constructs/data-keys.ts'
import type { DataTable } from '../constructs/grant.ts'
import { removalPolicy } from '../constructs/removal-policy.ts'
import { restrictSenders } from '../constructs/restrict-senders.ts'
import { archivedPattern } from '../event-patterns.ts'
import { events } from '../events.ts'
import { keyTagName, serviceTag } from '../names.ts'
import { importReplica } from './standby-stack.ts'

/**
 * Holds what must never be lost: the table, the KMS keys without which the table is useless, and the event
 * bus. The table can be filled again from the bus's archive. After a failover, the stack uses the restored
 * table and the keys that the standby region already has.
 */
export class DataStack extends Stack {
  readonly table: DataTable
  /** KMS keys for MACs of secrets such as passwords. With a stolen table alone, nobody can test a guess. */
  readonly macKeys: IKey[]
  /** KMS key that encrypts TOTP secrets. */
  readonly totpKey: IKey
  /** KMS key that signs the key rotation's audit records (evidence). The audit fetches the public key. */
  readonly evidenceKey: IKey
  /**
   * KMS key that encrypts the event archive, the queue of unmatched events, and the queues for events with
   * password digests or secrets. The local stack has none: its queues are in a local file.
   */
  readonly eventKey: Key | undefined
  readonly bus: EventBus

  constructor(scope: Construct, id: string, props: StackProps & { config: Config }) {
    super(scope, id, props)
    const { config } = props
    if (config.failover) {
      this.table = TableV2.fromTableName(this, 'Table', config.failover)
      this.macKeys = config.macKeys.map((name) => importReplica(this, name, config))
      this.totpKey = importReplica(this, 'TotpKey', config)
      this.evidenceKey = importReplica(this, 'EvidenceKey', config)
    } else {
      this.table = this.addTable(config)
      const mac = { keySpec: KeySpec.HMAC_256, keyUsage: KeyUsage.GENERATE_VERIFY_MAC }
      this.macKeys = config.macKeys.map((name) => this.addDataKey(name, config, mac))
      this.totpKey = this.addDataKey('TotpKey', config, keyRotation(config))
      this.evidenceKey = this.addDataKey('EvidenceKey', config, {
        keySpec: KeySpec.RSA_2048,
        keyUsage: KeyUsage.SIGN_VERIFY,
      })
    }
    this.eventKey = config.stage === 'local' ? undefined : this.addEventKey(config)
    this.bus = this.addArchivedBus(config)
  }

  private addTable(config: Config): TableV2 {
    const { standby } = config
    return new TableV2(this, 'Table', {
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
      // Recovery, deletion protection and the tags apply to the replica, too.
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: 35 },
      deletionProtection: config.protectData,
      removalPolicy: removalPolicy(config),
      ...(standby ? { replicas: [{ region: standby.region }] } : {}),
    })
  }

  private addArchivedBus(config: Config): EventBus {
    const bus = new EventBus(this, 'Bus', { eventBusName: config.serviceName })
    restrictSenders(bus, config)
    const archive = new Archive(this, 'Archive', {
      archiveName: config.serviceName,
      description: `${config.stage}: every event from which the table can be filled again`,
      sourceEventBus: bus,
      eventPattern: archivedPattern(events) as EventPattern,
      // With `kmsKey`, CDK also lets EventBridge use the key for this bus (EventBridge: Encrypting archives).
      ...(this.eventKey && { kmsKey: this.eventKey }),
    })
    for (const resource of [bus, archive]) resource.applyRemovalPolicy(removalPolicy(config))
    return bus
  }

  private addDataKey(name: string, config: Config, props: KeyProps): Key {
    const key = new Key(this, name, {
      description: describeKey(name, config),
      multiRegion: true,
      policy: dataKeyPolicy(name, config),
      ...keyRemoval(config),
      ...props,
    })
    Tags.of(key).add(keyTagName, `${config.serviceName}/${name}`)
    // The stack of the standby region reads this output.
    new CfnOutput(this, arnOutput(name), { value: key.keyArn })
    return key
  }

  private addEventKey(config: Config): Key {
    const key = new Key(this, 'EventKey', {
      description: `${config.stage}: encrypts queued and archived events that hold secrets`,
      ...keyRotation(config),
      ...keyRemoval(config),
    })
    // The KMS actions that senders and receivers of an encrypted queue need (SQS: Key management).
    for (const statement of limitActions(config, ['kms:GenerateDataKey', 'kms:Decrypt']))
      key.addToResourcePolicy(statement)
    limitReaders(key, config)
    return key
  }
}

/**
 * Limits who can use the KMS key of queued events. AWS services can use the key directly, all other callers
 * only through SQS. If the stage names operators, these callers must be operators or roles of the service.
 */
function limitReaders(key: Key, config: Config): void {
  const actions = ['kms:Decrypt', 'kms:Encrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:CreateGrant']
  const Bool = { 'aws:PrincipalIsAWSService': 'false' }
  const denyUnless = (conditions: Record<string, Record<string, unknown>>) =>
    key.addToResourcePolicy(deny({ actions, conditions: { Bool, ...conditions } }))
  const { region, urlSuffix } = Stack.of(key)
  denyUnless({ StringNotEquals: { 'kms:ViaService': `sqs.${region}.${urlSuffix}` } })
  const { operator } = config.senders
  if (operator)
    denyUnless({
      ArnNotEquals: { 'aws:PrincipalArn': operator },
      StringNotEquals: { [`aws:PrincipalTag/${serviceTag.name}`]: serviceTag.value },
    })
}
