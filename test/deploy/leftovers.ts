import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb'
import { EventBridgeClient, ListEventBusesCommand } from '@aws-sdk/client-eventbridge'
import { DescribeKeyCommand, KMSClient, ListResourceTagsCommand, paginateListKeys } from '@aws-sdk/client-kms'
import { LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda'
import { paginateListQueues, SQSClient } from '@aws-sdk/client-sqs'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientOptions } from '../../shared/aws/client-options.ts'
import type { Config } from '../../infra/config.ts'
import { signingKeyTagName } from '../../shared/keys/key-names.ts'

/** Lists the resources of an assembly's templates that CloudFormation would keep when it deletes the stacks. */
export function findRetained(assembly: string): string[] {
  return globSync('*.template.json', { cwd: assembly }).flatMap((file) => {
    const { Resources: resources } = JSON.parse(readFileSync(join(assembly, file), 'utf8')) as {
      Resources: Record<string, { Type: string; DeletionPolicy?: string }>
    }
    return Object.entries(resources)
      .filter(([, { DeletionPolicy: policy = 'Delete' }]) => policy !== 'Delete')
      .map(([id, { Type: type }]) => `${type} ${id}`)
  })
}

/** Lists what is still there of a stage: tables, functions, queues, buses, and keys that are not to be deleted. */
export async function findLeftovers({ namePrefix, serviceName }: Config): Promise<string[]> {
  const options = clientOptions()
  const [lambda, dynamodb, sqs] = [
    new LambdaClient(options),
    new DynamoDBClient(options),
    new SQSClient(options),
  ]
  const found: string[] = []
  const add = (kind: string, name: string) => {
    if (name === serviceName || name.startsWith(namePrefix)) found.push(`${kind} ${name}`)
  }
  for await (const { Functions = [] } of paginateListFunctions({ client: lambda }, {}))
    for (const { FunctionName = '' } of Functions) add('function', FunctionName)
  for await (const { TableNames = [] } of paginateListTables({ client: dynamodb }, {}))
    for (const name of TableNames) add('table', name)
  for await (const { QueueUrls = [] } of paginateListQueues({ client: sqs }, { QueueNamePrefix: namePrefix }))
    for (const url of QueueUrls) add('queue', url.split('/').at(-1) ?? '')
  const { EventBuses = [] } = await new EventBridgeClient(options).send(new ListEventBusesCommand())
  for (const { Name = '' } of EventBuses) add('event bus', Name)
  return [...found, ...(await findKeys(serviceName))]
}

/** Lists the KMS keys with the tags of a stage that KMS is not about to delete. */
async function findKeys(serviceName: string): Promise<string[]> {
  const client = new KMSClient(clientOptions())
  const found: string[] = []
  for await (const { Keys = [] } of paginateListKeys({ client }, {}))
    for (const { KeyId } of Keys) {
      const { KeyMetadata } = await client.send(new DescribeKeyCommand({ KeyId }))
      if (KeyMetadata?.KeyManager !== 'CUSTOMER' || KeyMetadata.KeyState === 'PendingDeletion') continue
      const { Tags = [] } = await client.send(new ListResourceTagsCommand({ KeyId }))
      if (Tags.some(({ TagKey, TagValue }) => TagKey === signingKeyTagName && TagValue === serviceName))
        found.push(`signing key ${KeyId} (${KeyMetadata.KeyState})`)
    }
  return found
}
