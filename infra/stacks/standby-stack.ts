import { CfnOutput, Fn, Stack, type StackProps, Tags } from 'aws-cdk-lib'
import { CfnReplicaKey, type IKey, Key } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { addAlarms } from '../constructs/add-alarms.ts'
import { keyAlarm, KeyChanges } from '../constructs/key-changes.ts'
import { arnOutput, dataKeyPolicy, describeKey, keyRemoval } from '../constructs/data-keys.ts'
import { keyTagName } from '../names.ts'

interface StandbyStackProps extends StackProps {
  config: Config
  /** Name of the stack that has the primary KMS keys, and the region of these keys. */
  primary: { stackName: string; region: string }
}

/**
 * The resources that the standby region needs in advance: replicas of the KMS keys that the table depends on,
 * and an alarm on changes of the keys. DataStack creates the table's replica.
 */
export class StandbyStack extends Stack {
  constructor(scope: Construct, id: string, { config, primary, ...props }: StandbyStackProps) {
    super(scope, id, props)
    const names = [...config.macKeys, 'TotpKey', 'EvidenceKey']
    const keys = names.map((name) => this.addReplica(name, config, primary))
    if (!config.alarms) return
    // Leaves the name `key-changes` free for the alarm that this region gets after a failover.
    const name = 'standby-key-changes'
    new KeyChanges(this, 'KeyChanges', { config, keys, name, watchesAll: false })
    addAlarms(this, config.standby?.alarmTopicArn, [keyAlarm(name, config)])
  }

  /** Replicates a key. The replica has its own policy and tags: KMS shares only key material and rotation. */
  private addReplica(name: string, config: Config, primary: StandbyStackProps['primary']): string {
    const { removalPolicy, pendingWindow } = keyRemoval(config)
    const key = new CfnReplicaKey(this, name, {
      description: describeKey(name, config),
      // CloudFormation reads this output of the primary region when it creates or updates this stack.
      primaryKeyArn: Fn.getStackOutput(primary.stackName, arnOutput(name), primary.region),
      keyPolicy: dataKeyPolicy(name, config),
      ...(pendingWindow ? { pendingWindowInDays: pendingWindow.toDays() } : {}),
    })
    key.applyRemovalPolicy(removalPolicy)
    Tags.of(key).add(keyTagName, `${config.serviceName}/${name}`)
    new CfnOutput(this, arnOutput(name), { value: key.attrArn, exportName: exportOf(name, config) })
    return key.attrArn
  }
}

/** Name of the stack with the replicas of a stage's keys. */
export const standbyStackName = ({ stage }: Config): string => `account-service-${stage}-standby`

const exportOf = (name: string, config: Config): string => `${standbyStackName(config)}-${arnOutput(name)}`

/** The replica of a key. While stacks in the standby region use it, CloudFormation does not remove it. */
export const importReplica = (scope: Construct, name: string, config: Config): IKey =>
  Key.fromKeyArn(scope, name, Fn.importValue(exportOf(name, config)))
