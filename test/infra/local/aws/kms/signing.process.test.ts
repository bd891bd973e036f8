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

test('a KMS signature over a message or its digest verifies with OpenSSL and KMS, and a forged one does not', async () => {
  const { kms, KeyId, publicKey } = await createSigningKey()
  const message = Buffer.from('a message of any length')
  const digest = createHash('sha256').update(message).digest()
  for (const [MessageType, Message] of [
    ['RAW', message],
    ['DIGEST', digest],
  ] as const) {
    const { Signature } = await kms.send(new SignCommand({ KeyId, Message, MessageType, SigningAlgorithm }))
    const signature = Buffer.from(Signature ?? [])
    expect(verify('sha256', message, publicKey, signature)).toBe(true)

    const verified = await kms.send(
      new VerifyCommand({
        KeyId,
        Message: digest,
        MessageType: 'DIGEST',
        SigningAlgorithm,
        Signature: signature,
      }),
    )
    expect(verified.SignatureValid).toBe(true)
    signature[10] = (signature[10] ?? 0) ^ 1
    await expect(
      kms.send(new VerifyCommand({ KeyId, Message, MessageType, SigningAlgorithm, Signature: signature })),
    ).rejects.toMatchObject({ name: 'KMSInvalidSignatureException' })
  }
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
    [{ Message: Buffer.alloc(4097), MessageType: 'RAW' }, 'ValidationException'],
    [{ Message: Buffer.alloc(0), MessageType: 'RAW' }, 'ValidationException'],
    [{ SigningAlgorithm: 'ECDSA_SHA_256' }, 'ValidationException'],
    [{ KeyId: 'ffffffff-0000-0000-0000-000000000000' }, 'NotFoundException'],
    [{ KeyId: `arn:aws:kms:mars-north-1:123456789012:key/${KeyId}` }, 'NotFoundException'],
    [{ SigningAlgorithm: 'RSASSA_PSS_SHA_256' }, 'ValidationException'],
    [{ KeyId: KeyMetadata?.KeyId }, 'InvalidKeyUsageException'],
  ]
  for (const [change, name] of refused)
    await expect(kms.send(new SignCommand({ ...good, ...change })), name).rejects.toMatchObject({ name })
})
