import {
  CreateKeyCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  ListKeysCommand,
  ListResourceTagsCommand,
  ScheduleKeyDeletionCommand,
  SignCommand,
} from '@aws-sdk/client-kms'
import { expect, it } from 'vitest'
import type { PolicyStatement } from '../../../infra/local/model.ts'
import { makeBundleDirectories } from '../../support/bundle-directories.ts'
import { accountId, functionModel, region, stackModel, startStack } from '../local/aws/stack.ts'
import { ofType, synthesizeUnchecked } from '../stacks/synthesize.ts'

const pseudoParameters: Record<string, string> = {
  'AWS::Partition': 'aws',
  'AWS::Region': region,
  'AWS::AccountId': accountId,
}

/** Replaces CloudFormation references in a policy by values. ARNs of other services do not matter here. */
function resolve(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolve)
  if (typeof value !== 'object' || value === null) return value
  const { Ref: reference, 'Fn::Join': join, ...others } = value as Record<string, unknown>
  const { 'Fn::GetAtt': attribute, 'Fn::ImportValue': imported } = others
  if (typeof reference === 'string') return pseudoParameters[reference]
  if (attribute !== undefined || imported !== undefined) return 'arn:aws:other'
  if (Array.isArray(join)) return (resolve(join[1]) as string[]).join(String(join[0]))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member)]))
}

/** Starts an AWS endpoint with a key of the stage `dev` and one of another stage, as the function sees it. */
async function startAsFunction() {
  makeBundleDirectories()
  const [policy] = ofType(await synthesizeUnchecked('dev'), 'AWS::IAM::Policy').filter(({ id }) =>
    id.startsWith('SigningKeyDeletion'),
  )
  const document = policy?.resource.Properties['PolicyDocument'] as { Statement: unknown[] }
  const statements = resolve(document.Statement) as PolicyStatement[]
  const { kms, as } = await startStack(stackModel({ functions: [functionModel('deletion', statements)] }))
  const newKey = async (tag: string) => {
    const Tags = [{ TagKey: 'signing-key', TagValue: tag }]
    const { KeyMetadata } = await kms.send(
      new CreateKeyCommand({ KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY', Tags }),
    )
    return KeyMetadata?.KeyId ?? expect.unreachable()
  }
  return {
    kms: as('deletion').kms,
    own: await newKey('account-service-dev'),
    other: await newKey('account-service-prod'),
  }
}

it('the function may find its stage’s signing keys and delete them', async () => {
  const { kms, own } = await startAsFunction()
  await kms.send(new ListKeysCommand({}))
  await kms.send(new ListResourceTagsCommand({ KeyId: own }))
  await kms.send(new ScheduleKeyDeletionCommand({ KeyId: own, PendingWindowInDays: 7 }))
  await kms.send(new DescribeKeyCommand({ KeyId: own }))
})

it('the function may delete no key of another stage, and do nothing else with its own', async () => {
  const { kms, own, other } = await startAsFunction()
  const SigningAlgorithm = 'RSASSA_PKCS1_V1_5_SHA_256'
  for (const [what, refused] of Object.entries({
    deleteOther: () => kms.send(new ScheduleKeyDeletionCommand({ KeyId: other })),
    tagsOfOther: () => kms.send(new ListResourceTagsCommand({ KeyId: other })),
    disable: () => kms.send(new DisableKeyCommand({ KeyId: own })),
    sign: () => kms.send(new SignCommand({ KeyId: own, Message: new Uint8Array(32), SigningAlgorithm })),
    create: () => kms.send(new CreateKeyCommand({ KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY' })),
  }))
    await expect(refused(), what).rejects.toThrow(/not authorized/)
})
