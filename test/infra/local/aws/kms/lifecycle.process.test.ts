import {
  CancelKeyDeletionCommand,
  CreateKeyCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  EnableKeyCommand,
  GetPublicKeyCommand,
  ListKeysCommand,
  ListResourceTagsCommand,
  ScheduleKeyDeletionCommand,
  SignCommand,
  UntagResourceCommand,
  type KMSClient,
} from '@aws-sdk/client-kms'
import { expect, test } from 'vitest'
import { arnOf, stackModel, startStack } from '../stack.ts'

const sign = (KeyId: string) =>
  new SignCommand({ KeyId, Message: Buffer.from('x'), SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256' })

async function createKey(kms: KMSClient, tags: Record<string, string> = { a: '1' }): Promise<string> {
  const { KeyMetadata } = await kms.send(
    new CreateKeyCommand({
      KeySpec: 'RSA_2048',
      KeyUsage: 'SIGN_VERIFY',
      Tags: Object.entries(tags).map(([TagKey, TagValue]) => ({ TagKey, TagValue })),
    }),
  )
  return KeyMetadata?.KeyId ?? ''
}

test('a KMS key of the template can be found by its id and its ARN from the start', async () => {
  const keyId = '11111111-2222-3333-4444-555555555555'
  const key = {
    keyId,
    arn: arnOf('kms', `key/${keyId}`),
    keySpec: 'HMAC_256',
    keyUsage: 'GENERATE_VERIFY_MAC',
    description: 'passwords',
    keyPolicy: undefined,
    tags: { purpose: 'passwords' },
  }
  const { kms } = await startStack(stackModel({ keys: [key] }))
  for (const KeyId of [keyId, key.arn]) {
    const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId }))
    expect(KeyMetadata).toMatchObject({
      KeyId: keyId,
      Arn: key.arn,
      Description: 'passwords',
      KeySpec: 'HMAC_256',
      MacAlgorithms: ['HMAC_SHA_256'],
    })
  }
})

test('a KMS key allows in each key state only the operations that AWS allows', async () => {
  const { kms } = await startStack(stackModel())
  const KeyId = await createKey(kms)
  const uses = [() => kms.send(sign(KeyId)), () => kms.send(new GetPublicKeyCommand({ KeyId }))]
  const stateOf = async () => (await kms.send(new DescribeKeyCommand({ KeyId }))).KeyMetadata

  for (const use of uses) await use()
  await kms.send(new DisableKeyCommand({ KeyId }))
  expect(await stateOf()).toMatchObject({ KeyState: 'Disabled', Enabled: false })
  for (const use of uses) await expect(use()).rejects.toMatchObject({ name: 'DisabledException' })

  await kms.send(new EnableKeyCommand({ KeyId }))
  for (const use of uses) await use()
  await expect(kms.send(new CancelKeyDeletionCommand({ KeyId }))).rejects.toMatchObject({
    name: 'KMSInvalidStateException',
  })
  await expect(
    kms.send(new ScheduleKeyDeletionCommand({ KeyId, PendingWindowInDays: 6 })),
  ).rejects.toMatchObject({
    name: 'ValidationException',
  })

  const scheduled = await kms.send(new ScheduleKeyDeletionCommand({ KeyId, PendingWindowInDays: 7 }))
  expect(scheduled.DeletionDate?.getTime()).toBeGreaterThan(Date.now() + 6.9 * 86_400_000)
  expect((await stateOf())?.KeyState).toBe('PendingDeletion')
  const refused = [
    ...uses,
    () => kms.send(new EnableKeyCommand({ KeyId })),
    () => kms.send(new DisableKeyCommand({ KeyId })),
    () => kms.send(new ScheduleKeyDeletionCommand({ KeyId })),
    () => kms.send(new UntagResourceCommand({ KeyId, TagKeys: ['a'] })),
  ]
  for (const run of refused) await expect(run()).rejects.toMatchObject({ name: 'KMSInvalidStateException' })

  await kms.send(new CancelKeyDeletionCommand({ KeyId }))
  expect(await stateOf()).toMatchObject({ KeyState: 'Disabled' })
  expect((await stateOf())?.DeletionDate).toBeUndefined()
})

test('ListResourceTags returns the tags of a new KMS key, without a tag that was removed', async () => {
  const { kms } = await startStack(stackModel())
  const KeyId = await createKey(kms, { a: '1', b: '2' })
  const listTags = async () => (await kms.send(new ListResourceTagsCommand({ KeyId }))).Tags
  expect(await listTags()).toEqual([
    { TagKey: 'a', TagValue: '1' },
    { TagKey: 'b', TagValue: '2' },
  ])
  await kms.send(new UntagResourceCommand({ KeyId, TagKeys: ['a'] }))
  expect(await listTags()).toEqual([{ TagKey: 'b', TagValue: '2' }])
})

test('page 2 of ListKeys starts after the last key of page 1', async () => {
  const { kms } = await startStack(stackModel())
  for (let index = 0; index < 3; index += 1) await kms.send(new CreateKeyCommand({}))
  const first = await kms.send(new ListKeysCommand({ Limit: 2 }))
  expect([first.Keys?.length, first.Truncated]).toEqual([2, true])
  const second = await kms.send(new ListKeysCommand({ Limit: 2, Marker: first.NextMarker }))
  expect([second.Keys?.length, second.Truncated]).toEqual([1, false])
  expect(new Set([...(first.Keys ?? []), ...(second.Keys ?? [])].map(({ KeyId }) => KeyId)).size).toBe(3)
})

test('CreateKey rejects an invalid request with the exception name that AWS uses', async () => {
  const { kms } = await startStack(stackModel())
  const refused = [
    [{ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' }, 'UnsupportedOperationException'],
    [{ KeySpec: 'RSA_2048', KeyUsage: 'GENERATE_VERIFY_MAC' }, 'ValidationException'],
    [{ KeySpec: 'HMAC_256' }, 'ValidationException'],
    [{ Policy: '{}' }, 'ValidationException'],
  ] as const
  for (const [input, name] of refused)
    await expect(kms.send(new CreateKeyCommand(input)), name).rejects.toMatchObject({ name })
})
