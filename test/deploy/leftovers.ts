import {
  DescribeKeyCommand,
  KMSClient,
  ListResourceTagsCommand,
  paginateListKeys,
  ScheduleKeyDeletionCommand,
} from '@aws-sdk/client-kms'
import { LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../infra/config.ts'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { signingKeyTagName } from '../../shared/aws/signing-key-names.ts'

/** Lists an assembly's resources that CloudFormation keeps after the stacks are deleted. */
export const findRetained = (assembly: string): string[] =>
  globSync('*.template.json', { cwd: assembly }).flatMap((file) => {
    const { Resources: all } = JSON.parse(readFileSync(join(assembly, file), 'utf8')) as {
      Resources: Record<string, { Type: string; DeletionPolicy?: string }>
    }
    return Object.entries(all)
      .filter(([, { DeletionPolicy: policy = 'Delete' }]) => policy !== 'Delete')
      .map(([id, { Type: type }]) => `${type} ${id}`)
  })

/** Lists those functions of a stage that still exist. */
export async function findLeftovers({ namePrefix }: Config): Promise<string[]> {
  const found: string[] = []
  const lambda = new LambdaClient(clientOptions())
  for await (const { Functions = [] } of paginateListFunctions({ client: lambda }, {}))
    for (const { FunctionName: name = '' } of Functions) if (name.startsWith(namePrefix)) found.push(name)
  return found
}

/** Schedules the deletion of a removed stage's signing keys, which are in no template. */
export async function deleteSigningKeys({ serviceName }: Config): Promise<void> {
  const kms = new KMSClient(clientOptions())
  for await (const { Keys = [] } of paginateListKeys({ client: kms }, {}))
    for (const { KeyId } of Keys) {
      const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId }))
      if (KeyMetadata?.KeyManager !== 'CUSTOMER' || KeyMetadata.KeyState === 'PendingDeletion') continue
      const { Tags = [] } = await kms.send(new ListResourceTagsCommand({ KeyId }))
      if (Tags.some(({ TagKey, TagValue }) => TagKey === signingKeyTagName && TagValue === serviceName))
        await kms.send(new ScheduleKeyDeletionCommand({ KeyId, PendingWindowInDays: 7 }))
    }
}
