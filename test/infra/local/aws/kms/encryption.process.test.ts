import { CreateKeyCommand, DecryptCommand, EncryptCommand } from '@aws-sdk/client-kms'
import { expect, test } from 'vitest'
import { stackModel, startStack } from '../stack.ts'

test('a KMS ciphertext decrypts only with its own key and encryption context, in any order', async () => {
  const { kms } = await startStack(stackModel())
  const create = async () => (await kms.send(new CreateKeyCommand({}))).KeyMetadata?.KeyId
  const [one, two] = [await create(), await create()]
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
