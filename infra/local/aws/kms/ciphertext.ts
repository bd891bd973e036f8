import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { AwsError } from '../wire/aws-error.ts'
import type { Key } from './key-ring.ts'

/** Name-value pairs that a ciphertext is bound to. */
export type EncryptionContext = Record<string, string>

const version = 1
const nonceBytes = 12
const tagBytes = 16

/** Encrypts by AES-256-GCM; the blob names its key, so that Decrypt needs no KeyId. */
export function encrypt(key: Key, plaintext: Buffer, context: EncryptionContext): Buffer {
  const keyId = Buffer.from(key.record.keyId)
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key.material.secret, nonce).setAAD(encodeContext(context))
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([Buffer.from([version, keyId.length]), keyId, nonce, cipher.getAuthTag(), body])
}

/** The id of the key that a ciphertext names. */
export function readCiphertextKeyId(blob: Buffer): string {
  const length = blob[1]
  if (blob[0] !== version || length === undefined || blob.length < 2 + length + nonceBytes + tagBytes)
    throw invalid()
  return blob.subarray(2, 2 + length).toString()
}

/** Decrypts; InvalidCiphertextException if the blob or its context is not what was encrypted. */
export function decrypt(key: Key, blob: Buffer, context: EncryptionContext): Buffer {
  const start = 2 + (blob[1] ?? 0)
  const nonce = blob.subarray(start, start + nonceBytes)
  const tag = blob.subarray(start + nonceBytes, start + nonceBytes + tagBytes)
  const decipher = createDecipheriv('aes-256-gcm', key.material.secret, nonce)
  decipher.setAAD(encodeContext(context)).setAuthTag(tag)
  const opened = decipher.update(blob.subarray(start + nonceBytes + tagBytes))
  try {
    return Buffer.concat([opened, decipher.final()])
  } catch {
    // GCM says only that the tag is wrong, and so does KMS.
    throw invalid()
  }
}

function invalid(): AwsError {
  return new AwsError('InvalidCiphertextException', 'The ciphertext is not valid.')
}

/** The pairs in one unambiguous order and form: the order in which a client sends them does not matter. */
function encodeContext(context: EncryptionContext): Buffer {
  const pairs = Object.entries(context).sort(([left], [right]) => (left < right ? -1 : 1))
  return Buffer.from(JSON.stringify(pairs))
}
