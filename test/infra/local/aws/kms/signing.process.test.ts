import { createHash, createPublicKey, verify } from 'node:crypto'
import { CreateKeyCommand, GetPublicKeyCommand, SignCommand, VerifyCommand } from '@aws-sdk/client-kms'
import { expect, test } from 'vitest'
import { startStack, stackModel } from '../stack.ts'

const SigningAlgorithm = 'RSASSA_PKCS1_V1_5_SHA_256'

async function createSigningKey() {
  const { kms } = await startStack(stackModel())
  const { KeyMetadata } = await kms.send(
    new CreateKeyCommand({ KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY' }),
  )
  const KeyId = KeyMetadata?.KeyId
  const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId }))
  const publicKey = createPublicKey({ key: Buffer.from(PublicKey ?? []), format: 'der', type: 'spki' })
  return { kms, KeyId, publicKey }
}

test('a KMS signature of a digest verifies with OpenSSL and KMS, and a forged one does not', async () => {
  const { kms, KeyId, publicKey } = await createSigningKey()
  const message = Buffer.from('a message of any length')
  const Message = createHash('sha256').update(message).digest()
  const signing = { KeyId, Message, MessageType: 'DIGEST', SigningAlgorithm } as const
  const { Signature = new Uint8Array() } = await kms.send(new SignCommand(signing))
  expect(verify('sha256', message, publicKey, Signature)).toBe(true)
  expect((await kms.send(new VerifyCommand({ ...signing, Signature }))).SignatureValid).toBe(true)
  Signature[10] = (Signature[10] ?? 0) ^ 1
  await expect(kms.send(new VerifyCommand({ ...signing, Signature }))).rejects.toMatchObject({
    name: 'KMSInvalidSignatureException',
  })
})

test('KMS Sign rejects an invalid request with the exception name that AWS uses', async () => {
  const { kms, KeyId } = await createSigningKey()
  const { KeyMetadata } = await kms.send(
    new CreateKeyCommand({ KeySpec: 'HMAC_256', KeyUsage: 'GENERATE_VERIFY_MAC' }),
  )
  const good = {
    KeyId,
    Message: Buffer.alloc(32),
    MessageType: 'DIGEST',
    SigningAlgorithm,
  } as const
  const refused: [Partial<ConstructorParameters<typeof SignCommand>[0]>, string][] = [
    [{ Message: Buffer.alloc(31) }, 'ValidationException'],
    [{ KeyId: 'ffffffff-0000-0000-0000-000000000000' }, 'NotFoundException'],
    [{ KeyId: `arn:aws:kms:mars-north-1:123456789012:key/${KeyId}` }, 'NotFoundException'],
    [{ SigningAlgorithm: 'RSASSA_PSS_SHA_256' }, 'ValidationException'],
    [{ KeyId: KeyMetadata?.KeyId }, 'InvalidKeyUsageException'],
  ]
  for (const [change, name] of refused)
    await expect(kms.send(new SignCommand({ ...good, ...change })), name).rejects.toMatchObject({ name })
})
