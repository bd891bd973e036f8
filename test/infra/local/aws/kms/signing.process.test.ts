import { CreateKeyCommand, type CreateKeyCommandInput, SignCommand } from '@aws-sdk/client-kms'
import { expect, test } from 'vitest'
import { startStack, stackModel } from '../stack.ts'

test('KMS Sign rejects an invalid request with the exception name that AWS uses', async () => {
  const { kms } = await startStack(stackModel())
  const create = async (input: CreateKeyCommandInput) =>
    (await kms.send(new CreateKeyCommand(input))).KeyMetadata?.KeyId
  const KeyId = await create({ KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY' })
  const macKeyId = await create({ KeySpec: 'HMAC_256', KeyUsage: 'GENERATE_VERIFY_MAC' })
  const good = {
    KeyId,
    Message: Buffer.alloc(32),
    MessageType: 'DIGEST',
    SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
  } as const
  const refused: [Partial<ConstructorParameters<typeof SignCommand>[0]>, string][] = [
    [{ Message: Buffer.alloc(31) }, 'ValidationException'],
    [{ KeyId: 'ffffffff-0000-0000-0000-000000000000' }, 'NotFoundException'],
    [{ KeyId: `arn:aws:kms:mars-north-1:123456789012:key/${KeyId}` }, 'NotFoundException'],
    [{ SigningAlgorithm: 'RSASSA_PSS_SHA_256' }, 'ValidationException'],
    [{ KeyId: macKeyId }, 'InvalidKeyUsageException'],
  ]
  for (const [change, name] of refused)
    await expect(kms.send(new SignCommand({ ...good, ...change })), name).rejects.toMatchObject({ name })
})
