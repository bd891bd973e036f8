import { createHmac } from 'node:crypto'
import * as v from 'valibot'
import { AwsError } from '../wire/http-messages.ts'
import { defineOperation, type Operation } from '../wire/operation.ts'
import { decrypt, encrypt, readCiphertextKeyId, type EncryptionContext } from './algorithms.ts'
import { signDigest, signingAlgorithm, verifyDigest } from './algorithms.ts'
import { keyAccess, keyOperation, requireUsable } from './key-access.ts'
import type { Key, KeyStore } from './key-store.ts'

const SignInput = v.object({
  Message: blob(32, 32),
  MessageType: v.literal('DIGEST'),
  SigningAlgorithm: v.literal(signingAlgorithm),
})
type SignInput = v.InferOutput<typeof SignInput>
const VerifyInput = v.object({ ...SignInput.entries, Signature: blob(6144) })
const MacInput = v.object({ Message: blob(4096), MacAlgorithm: v.string() })

const EncryptionAlgorithm = 'SYMMETRIC_DEFAULT'
const EncryptInput = v.object({
  Plaintext: blob(4096),
  EncryptionContext: v.optional(v.record(v.string(), v.string()), {}),
  EncryptionAlgorithm: v.optional(v.literal(EncryptionAlgorithm)),
})
const DecryptInput = v.object({
  ...v.omit(EncryptInput, ['Plaintext']).entries,
  KeyId: v.optional(v.string()),
  CiphertextBlob: blob(6144),
})
type DecryptInput = v.InferOutput<typeof DecryptInput>

/** The KMS operations Sign, Verify, GenerateMac, Encrypt and Decrypt. */
export function cryptographicOperations(keys: KeyStore): Record<string, Operation> {
  const onKey = keyOperation(keys)
  return {
    Sign: onKey('Sign', SignInput, signMessage, signingContext),
    Verify: onKey('Verify', VerifyInput, verifySignature, signingContext),

    GenerateMac: onKey(
      'GenerateMac',
      MacInput,
      (key, { Message, MacAlgorithm }) => {
        requireUse(key, MacAlgorithm)
        const mac = createHmac('sha256', key.material).update(Message)
        return { KeyId: key.record.arn, Mac: mac.digest('base64'), MacAlgorithm }
      },
      ({ MacAlgorithm }) => ({ 'kms:MacAlgorithm': MacAlgorithm }),
    ),

    Encrypt: onKey(
      'Encrypt',
      EncryptInput,
      (key, { Plaintext, EncryptionContext }) => {
        requireUse(key, EncryptionAlgorithm)
        const ciphertext = encrypt(key, Plaintext, EncryptionContext).toString('base64')
        return { KeyId: key.record.arn, CiphertextBlob: ciphertext, EncryptionAlgorithm }
      },
      encryptionContext,
    ),

    Decrypt: defineOperation(
      DecryptInput,
      (input) => keyAccess('Decrypt', findKey(keys, input), encryptionContext(input)),
      (input) => decryptBlob(keys, input),
    ),
  }
}

function signMessage(key: Key, input: SignInput) {
  requireUse(key, signingAlgorithm)
  const Signature = signDigest(key, input.Message).toString('base64')
  return { KeyId: key.record.arn, Signature, SigningAlgorithm: signingAlgorithm }
}

function verifySignature(key: Key, input: v.InferOutput<typeof VerifyInput>) {
  requireUse(key, signingAlgorithm)
  if (verifyDigest(key, input.Message, input.Signature))
    return { KeyId: key.record.arn, SignatureValid: true, SigningAlgorithm: signingAlgorithm }
  throw new AwsError('KMSInvalidSignatureException', 'The signature is not valid.')
}

function findKey(keys: KeyStore, { KeyId, CiphertextBlob }: DecryptInput): Key {
  return keys.find(KeyId ?? readCiphertextKeyId(CiphertextBlob))
}

function decryptBlob(keys: KeyStore, input: DecryptInput) {
  const key = findKey(keys, input)
  requireUse(key, EncryptionAlgorithm)
  if (key.record.keyId !== readCiphertextKeyId(input.CiphertextBlob))
    throw new AwsError('IncorrectKeyException', 'The ciphertext was encrypted with another key.')
  const Plaintext = decrypt(key, input.CiphertextBlob, input.EncryptionContext).toString('base64')
  return { KeyId: key.record.arn, Plaintext, EncryptionAlgorithm }
}

/** Throws unless a KMS key is enabled and its spec supports the algorithm. */
function requireUse(key: Key, algorithm: string): void {
  requireUsable(key)
  const { record, spec } = key
  if (spec.algorithm === algorithm) return
  const message = `${record.arn} has the spec ${record.spec}, which does not offer ${algorithm}.`
  throw new AwsError('InvalidKeyUsageException', message)
}

/** The condition keys with which IAM policies restrict signing. */
function signingContext({ SigningAlgorithm, MessageType }: SignInput) {
  return { 'kms:SigningAlgorithm': SigningAlgorithm, 'kms:MessageType': MessageType }
}

/** The condition keys with which IAM policies restrict encryption and decryption. */
function encryptionContext(input: { EncryptionContext: EncryptionContext }) {
  const pairs = Object.entries(input.EncryptionContext)
  return {
    'kms:EncryptionContextKeys': pairs.map(([name]) => name),
    ...Object.fromEntries(pairs.map(([name, value]) => [`kms:EncryptionContext:${name}`, value])),
  }
}

/** Schema of a binary member of a request: base64 of at least `minBytes` and at most `maxBytes` bytes. */
function blob(maxBytes: number, minBytes = 1) {
  return v.pipe(
    v.string(),
    v.base64(),
    v.transform((text) => Buffer.from(text, 'base64')),
    v.check((bytes) => bytes.length >= minBytes && bytes.length <= maxBytes, 'length'),
  )
}
