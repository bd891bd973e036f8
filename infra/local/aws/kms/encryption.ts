import * as v from 'valibot'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Call, type Operation } from '../wire/operation.ts'
import { Blob } from './blob.ts'
import { decrypt, encrypt, readCiphertextKeyId, type EncryptionContext } from './ciphertext.ts'
import { openKeyForUse } from './key-access.ts'
import type { KeyRing } from './key-ring.ts'

const Context = v.optional(v.record(v.string(), v.string()), {})
const Algorithm = v.optional(v.literal('SYMMETRIC_DEFAULT'), 'SYMMETRIC_DEFAULT')

const EncryptInput = v.object({
  KeyId: v.string(),
  Plaintext: Blob(1, 4096),
  EncryptionContext: Context,
  EncryptionAlgorithm: Algorithm,
})
const DecryptInput = v.object({
  KeyId: v.optional(v.string()),
  CiphertextBlob: Blob(1, 6144),
  EncryptionContext: Context,
  EncryptionAlgorithm: Algorithm,
})
/** Encryption by symmetric keys. */
export function encryptionOperations(ring: KeyRing): Record<string, Operation> {
  const open = (call: Call, action: string, reference: string, context: EncryptionContext) =>
    openKeyForUse(ring, call, {
      action,
      usage: 'ENCRYPT_DECRYPT',
      reference,
      context: describeContext(context),
    })

  return {
    Encrypt: operation(EncryptInput, (input, call) => {
      const key = open(call, 'Encrypt', input.KeyId, input.EncryptionContext)
      return {
        KeyId: key.record.arn,
        CiphertextBlob: encrypt(key, input.Plaintext, input.EncryptionContext).toString('base64'),
        EncryptionAlgorithm: input.EncryptionAlgorithm,
      }
    }),

    Decrypt: operation(DecryptInput, (input, call) => {
      const keyId = readCiphertextKeyId(input.CiphertextBlob)
      const key = open(call, 'Decrypt', input.KeyId ?? keyId, input.EncryptionContext)
      if (key.record.keyId !== keyId)
        throw new AwsError(
          'IncorrectKeyException',
          'The key ID in the request does not identify a CMK that can perform this operation.',
        )
      return {
        KeyId: key.record.arn,
        Plaintext: decrypt(key, input.CiphertextBlob, input.EncryptionContext).toString('base64'),
        EncryptionAlgorithm: input.EncryptionAlgorithm,
      }
    }),
  }
}

function describeContext(context: EncryptionContext) {
  const pairs = Object.entries(context)
  return {
    'kms:EncryptionAlgorithm': 'SYMMETRIC_DEFAULT',
    'kms:EncryptionContextKeys': pairs.length === 0 ? undefined : pairs.map(([name]) => name),
    ...Object.fromEntries(pairs.map(([name, value]) => [`kms:EncryptionContext:${name}`, value])),
  }
}
