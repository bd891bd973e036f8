import {
  CreateKeyCommand,
  DecryptCommand,
  EncryptCommand,
  GenerateMacCommand,
  type CreateKeyCommandInput,
} from '@aws-sdk/client-kms'
import { expect, test } from 'vitest'
import { stackModel, startStack } from '../stack.ts'

async function startKeys() {
  const { kms } = await startStack(stackModel())
  const create = async (input: CreateKeyCommandInput) =>
    (await kms.send(new CreateKeyCommand(input))).KeyMetadata?.KeyId
  return {
    kms,
    one: await create({}),
    two: await create({}),
    mac: await create({ KeySpec: 'HMAC_256', KeyUsage: 'GENERATE_VERIFY_MAC' }),
  }
}

test('a KMS ciphertext decrypts only with its own key and encryption context, whose pairs may be in any order', async () => {
  const { kms, one, two } = await startKeys()
  const Plaintext = Buffer.from('JBSWY3DPEHPK3PXP')
  const { CiphertextBlob } = await kms.send(
    new EncryptCommand({ KeyId: one, Plaintext, EncryptionContext: { user_id: '7', purpose: 'totp' } }),
  )
  const good = { CiphertextBlob, EncryptionContext: { purpose: 'totp', user_id: '7' } }
  const opened = await kms.send(new DecryptCommand(good))
  expect(Buffer.from(opened.Plaintext ?? [])).toEqual(Plaintext)

  const broken = Buffer.from(CiphertextBlob ?? [])
  broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1
  const refused = [
    [{ EncryptionContext: { purpose: 'totp', user_id: '8' } }, 'InvalidCiphertextException'],
    [{ CiphertextBlob: broken }, 'InvalidCiphertextException'],
    [{ CiphertextBlob: Buffer.from('nonsense') }, 'InvalidCiphertextException'],
    [{ KeyId: two }, 'IncorrectKeyException'],
  ] as const
  for (const [change, name] of refused)
    await expect(kms.send(new DecryptCommand({ ...good, ...change })), name).rejects.toMatchObject({ name })
})

test('GenerateMac rejects an algorithm that the key does not offer', async () => {
  const { kms, one, mac } = await startKeys()
  const Message = Buffer.from('5f4dcc3b5aa765d61d8327deb882cf99')
  const input = { KeyId: mac, Message, MacAlgorithm: 'HMAC_SHA_256' } as const
  const refused = [
    [{ MacAlgorithm: 'HMAC_SHA_512' }, 'InvalidKeyUsageException'],
    [{ KeyId: one }, 'InvalidKeyUsageException'],
  ] as const
  for (const [change, name] of refused)
    await expect(kms.send(new GenerateMacCommand({ ...input, ...change })), name).rejects.toMatchObject({
      name,
    })
})
