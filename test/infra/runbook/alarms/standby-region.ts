import { DisableKeyCommand, GenerateMacCommand, KMSClient } from '@aws-sdk/client-kms'
import { expect, vi } from 'vitest'
import { startAwsEndpoint } from '../../../../infra/local/aws/server.ts'
import type { LocalStack } from '../../../../infra/local/local-stack.ts'
import type { StackModel } from '../../../../infra/local/model.ts'
import { readAlarms } from '../../../../infra/local/template/read-alarms.ts'
import { readReplicaKeys, readRules } from '../../../../infra/local/template/read-data-and-events.ts'
import { TemplateReader } from '../../../../infra/local/template/reader.ts'
import type { StackTemplate } from '../../../../infra/local/template/stack-templates.ts'
import { clientOptions } from '../../../../shared/aws/client-options.ts'
import { follow } from '../follow.ts'
import { standby } from './alarm-stage.ts'
import { lookUpKeyChanges } from './keys.ts'

const { region } = standby

/** The model of what a standby region has while the stage's own region works. */
function modelOf(templates: StackTemplate[], { accountId, outputs }: StackModel): StackModel {
  const addresses = { region, accountId, apiUrl: '', awsUrl: '', outputsElsewhere: outputs }
  const reader = new TemplateReader(templates, addresses)
  const none = { functions: [], roles: [], routes: [], tables: [], keys: [], queues: [], eventSources: [] }
  return {
    region,
    accountId,
    ...{ ...none, archives: [], compositeAlarms: [], apiId: '', apiName: '', cors: undefined },
    buses: [{ name: 'default', arn: `arn:aws:events:${region}:${accountId}:event-bus/default` }],
    replicaKeys: readReplicaKeys(reader),
    rules: readRules(reader),
    alarms: readAlarms(reader),
    outputs: reader.outputs(),
  }
}

/**
 * Rehearses the alarm of a standby region on an AWS endpoint with these templates and the replicas of the
 * stack's keys: somebody disables one of them, which raises this alarm.
 */
export async function aDisabledReplica(
  stack: LocalStack,
  templates: StackTemplate[],
  raises: string,
): Promise<void> {
  const model = modelOf(templates, stack.model)
  const there = await startAwsEndpoint({
    port: 0,
    model,
    dynamodbEndpoint: 'http://127.0.0.1:1',
    dataDirectory: undefined,
    invoke: () => expect.unreachable('a standby region has no functions'),
    replicatedKeys: stack.aws.multiRegionKeys(),
  })
  const { cloudwatch } = there
  const raised = () => cloudwatch.alarms().flatMap((one) => (one.raised ? [one.alarm.name] : []))
  const here = new KMSClient(clientOptions())
  vi.stubEnv('AWS_ENDPOINT_URL', there.url)
  vi.stubEnv('AWS_REGION', region)
  const kms = new KMSClient(clientOptions())
  try {
    const [{ keyId, keyPolicy } = expect.unreachable()] = model.replicaKeys
    expect(keyPolicy).toBeDefined()
    const ARN = `arn:aws:kms:${region}:${model.accountId}:key/${keyId}`
    const makeMac = async (client: KMSClient, KeyId: string) => {
      const input = { KeyId, MacAlgorithm: 'HMAC_SHA_256', Message: Buffer.from('of a password') } as const
      return (await client.send(new GenerateMacCommand(input))).Mac
    }
    cloudwatch.advance(1)
    expect(raised()).toEqual([])
    await kms.send(new DisableKeyCommand({ KeyId: keyId }))
    cloudwatch.advance(1)
    expect(raised()).toEqual([raises])
    expect(cloudwatch.notifications.map(({ alarm }) => alarm)).toEqual([raises])
    const mac = await makeMac(here, keyId)
    await expect(makeMac(kms, keyId)).rejects.toMatchObject({ name: 'DisabledException' })

    const procedure = follow('key-changes', stack.baseUrl)
    expect(await procedure.aws(lookUpKeyChanges)).toMatchObject({
      Events: [{ EventName: 'DisableKey', Username: 'root', Resources: [{ ResourceName: ARN }] }],
    })
    expect(Object.values(model.outputs)).toContain(ARN)
    await procedure.aws('aws kms enable-key --key-id ARN', { ARN })
    expect(await makeMac(kms, keyId)).toEqual(mac)
    cloudwatch.advance(6)
    expect(raised()).toEqual([])
  } finally {
    vi.unstubAllEnvs()
    kms.destroy()
    here.destroy()
    await there.close()
  }
}
