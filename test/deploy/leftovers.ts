import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb'
import { EventBridgeClient, ListEventBusesCommand } from '@aws-sdk/client-eventbridge'
import { DescribeKeyCommand, KMSClient, ListResourceTagsCommand, paginateListKeys } from '@aws-sdk/client-kms'
import { LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda'
import { paginateListQueues, SQSClient } from '@aws-sdk/client-sqs'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { signingKeyTagName } from '../../shared/keys/names.ts'

interface Resource {
  Type: string
  Properties?: Record<string, unknown>
  DeletionPolicy?: string
}

const resourcesOf = (assemblies: string[]): [id: string, resource: Resource][] =>
  assemblies.flatMap((assembly) =>
    globSync('*.template.json', { cwd: assembly }).flatMap((file) =>
      Object.entries(
        (JSON.parse(readFileSync(join(assembly, file), 'utf8')) as { Resources: Record<string, Resource> })
          .Resources,
      ),
    ),
  )

/** Lists the deployed resources that CloudFormation keeps when it deletes the stacks. */
export function findRetained(assemblies: string[]): string[] {
  const retained = resourcesOf(assemblies).filter(
    ([, { DeletionPolicy: policy = 'Delete' }]) => policy !== 'Delete',
  )
  return [...new Set(retained.map(([id, { Type: type }]) => `${type} ${id}`))]
}

/** The property that names a resource, for the kinds that findLeftovers can list. */
const names: Record<string, string> = {
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::DynamoDB::GlobalTable': 'TableName',
  'AWS::SQS::Queue': 'QueueName',
  'AWS::Events::EventBus': 'Name',
}

/**
 * Lists what is still there of the deployed templates: functions, tables, queues and event buses; and the
 * signing keys of the stage that KMS is not about to delete.
 */
export async function findLeftovers(assemblies: string[], signingKeyTag: string): Promise<string[]> {
  const named = resourcesOf(assemblies).map(
    ([, { Type: type, Properties: properties = {} }]) => properties[names[type] ?? ''],
  )
  const deployed = new Set(named.filter((name) => typeof name === 'string'))
  if (deployed.size === 0) throw new Error('the templates name no resource')
  const present = await Promise.all([listFunctions(), listTables(), listQueues(), listBuses()])
  return [...present.flat().filter((name) => deployed.has(name)), ...(await listSigningKeys(signingKeyTag))]
}

async function listFunctions(): Promise<string[]> {
  const found: string[] = []
  const client = new LambdaClient(clientOptions())
  for await (const { Functions = [] } of paginateListFunctions({ client }, {}))
    for (const { FunctionName = '' } of Functions) found.push(FunctionName)
  return found
}

async function listTables(): Promise<string[]> {
  const found: string[] = []
  const client = new DynamoDBClient(clientOptions())
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) found.push(...TableNames)
  return found
}

async function listQueues(): Promise<string[]> {
  const found: string[] = []
  const client = new SQSClient(clientOptions())
  for await (const { QueueUrls = [] } of paginateListQueues({ client }, { MaxResults: 1_000 }))
    for (const url of QueueUrls) found.push(url.split('/').at(-1) ?? '')
  return found
}

async function listBuses(): Promise<string[]> {
  const { EventBuses = [] } = await new EventBridgeClient(clientOptions()).send(new ListEventBusesCommand())
  return EventBuses.map(({ Name = '' }) => Name)
}

async function listSigningKeys(signingKeyTag: string): Promise<string[]> {
  const client = new KMSClient(clientOptions())
  const found: string[] = []
  for await (const { Keys = [] } of paginateListKeys({ client }, {}))
    for (const { KeyId } of Keys) {
      const { KeyMetadata } = await client.send(new DescribeKeyCommand({ KeyId }))
      if (KeyMetadata?.KeyManager !== 'CUSTOMER' || KeyMetadata.KeyState === 'PendingDeletion') continue
      const { Tags = [] } = await client.send(new ListResourceTagsCommand({ KeyId }))
      if (Tags.some(({ TagKey, TagValue }) => TagKey === signingKeyTagName && TagValue === signingKeyTag))
        found.push(`signing key ${KeyId} (${KeyMetadata.KeyState})`)
    }
  return found
}
