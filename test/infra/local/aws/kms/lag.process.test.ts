import {
  CreateKeyCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  ListKeysCommand,
  ListResourceTagsCommand,
  ScheduleKeyDeletionCommand,
  SignCommand,
  type KMSClient,
} from '@aws-sdk/client-kms'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { DrawLag } from '../../../../../infra/local/aws/kms/lag.ts'
import type { PolicyStatement } from '../../../../../infra/local/model.ts'
import { arnOf, functionModel, stackModel, startStack } from '../stack.ts'

const second = 1_000
const passTime = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-03-01T00:00:00Z') })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Starts a stack whose function may sign with tagged keys only, and creates such a key. */
async function startLagging(drawKmsLag: DrawLag) {
  const signs = {
    Effect: 'Allow' as const,
    Action: ['kms:Sign', 'kms:ListResourceTags'],
    Resource: arnOf('kms', 'key/*'),
    Condition: { StringEquals: { 'aws:ResourceTag/purpose': 'signing' } },
  } satisfies PolicyStatement
  const model = stackModel({ functions: [functionModel('signer', [signs])] })
  const { kms: owner, as } = await startStack(model, { drawKmsLag })
  const { KeyMetadata } = await owner.send(
    new CreateKeyCommand({
      KeySpec: 'RSA_2048',
      KeyUsage: 'SIGN_VERIFY',
      Tags: [{ TagKey: 'purpose', TagValue: 'signing' }],
    }),
  )
  const { kms: signer } = as('signer')
  const KeyId = KeyMetadata?.KeyId ?? ''
  const sign = (kms: KMSClient) =>
    kms.send(
      new SignCommand({ KeyId, Message: Buffer.from('x'), SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256' }),
    )
  const stateOf = async () => (await owner.send(new DescribeKeyCommand({ KeyId }))).KeyMetadata?.KeyState
  return { owner, signer, KeyId, KeyMetadata, sign, stateOf }
}

const lagOf =
  (change: string, milliseconds: number): DrawLag =>
  (drawn) =>
    drawn === change ? milliseconds : 0

test('a new KMS key that lags is unknown and not listed until its lag is over', async () => {
  const { owner, KeyMetadata, sign } = await startLagging(lagOf('exists', 90 * second))
  expect(KeyMetadata?.KeyState).toBe('Enabled')
  passTime(90 * second - 1)
  await expect(sign(owner)).rejects.toMatchObject({ name: 'NotFoundException' })
  expect((await owner.send(new ListKeysCommand({}))).Keys).toEqual([])
  passTime(1)
  await sign(owner)
  expect((await owner.send(new ListKeysCommand({}))).Keys).toHaveLength(1)
})

test('the tags of a KMS key that lag are listed at once, but count for IAM only when their lag is over', async () => {
  const { owner, signer, KeyId, sign } = await startLagging(lagOf('tags', 300 * second))
  passTime(300 * second - 1)
  await sign(owner)
  expect((await owner.send(new ListResourceTagsCommand({ KeyId }))).Tags).toHaveLength(1)
  const denied = { name: 'AccessDeniedException' }
  await expect(sign(signer)).rejects.toMatchObject(denied)
  await expect(signer.send(new ListResourceTagsCommand({ KeyId }))).rejects.toMatchObject(denied)
  passTime(1)
  await sign(signer)
})

test('a KMS key whose state lags is described and used in its old state until the lag is over', async () => {
  const { owner, KeyId, sign, stateOf } = await startLagging(lagOf('state', 30 * second))
  expect(await stateOf()).toBe('Creating')
  await expect(sign(owner)).rejects.toMatchObject({ name: 'KMSInvalidStateException' })
  passTime(30 * second)
  await sign(owner)

  await owner.send(new DisableKeyCommand({ KeyId }))
  passTime(20 * second)
  await owner.send(new ScheduleKeyDeletionCommand({ KeyId, PendingWindowInDays: 7 }))
  passTime(10 * second - 1)
  expect(await stateOf()).toBe('Enabled')
  await sign(owner)
  // A change acts on the true state.
  await expect(owner.send(new DisableKeyCommand({ KeyId }))).rejects.toMatchObject({
    name: 'KMSInvalidStateException',
  })
  passTime(1)
  expect(await stateOf()).toBe('Disabled')
  await expect(sign(owner)).rejects.toMatchObject({ name: 'DisabledException' })
  passTime(20 * second)
  expect(await stateOf()).toBe('PendingDeletion')
})
