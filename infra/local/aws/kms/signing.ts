import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { AwsError } from '../wire/aws-error.ts'
import { operation, type Operation } from '../wire/operation.ts'
import { Blob } from './blob.ts'
import { signDigest, verifyDigest } from './digest-signatures.ts'
import { openKeyForUse, requireAlgorithm } from './key-access.ts'
import type { KeyRing } from './key-ring.ts'
import { signingAlgorithms } from './key-specs.ts'

const SignInput = v.object({
  KeyId: v.string(),
  Message: Blob(1, 4096),
  MessageType: v.optional(v.picklist(['RAW', 'DIGEST']), 'RAW'),
  SigningAlgorithm: v.picklist(signingAlgorithms),
})
const VerifyInput = v.object({ ...SignInput.entries, Signature: Blob(1, 6144) })

/** Signatures by RSA keys, over a message or over its digest. */
export function signingOperations(ring: KeyRing): Record<string, Operation> {
  return {
    Sign: operation(SignInput, (input, call) => {
      const key = openKeyForUse(ring, call, describeUse('Sign', input))
      requireAlgorithm(key, input.SigningAlgorithm)
      const hash = readHash(input.SigningAlgorithm)
      const signature = signDigest(key.material.secret, hash, readDigest(hash, input))
      return {
        KeyId: key.record.arn,
        Signature: signature.toString('base64'),
        SigningAlgorithm: input.SigningAlgorithm,
      }
    }),

    Verify: operation(VerifyInput, (input, call) => {
      const key = openKeyForUse(ring, call, describeUse('Verify', input))
      requireAlgorithm(key, input.SigningAlgorithm)
      const hash = readHash(input.SigningAlgorithm)
      const publicKey = key.material.public ?? key.material.secret
      if (!verifyDigest(publicKey, hash, readDigest(hash, input), input.Signature))
        throw new AwsError('KMSInvalidSignatureException', 'The signature is not valid.')
      return { KeyId: key.record.arn, SignatureValid: true, SigningAlgorithm: input.SigningAlgorithm }
    }),
  }
}

function describeUse(action: string, input: v.InferOutput<typeof SignInput>) {
  return {
    action,
    usage: 'SIGN_VERIFY' as const,
    reference: input.KeyId,
    context: { 'kms:SigningAlgorithm': input.SigningAlgorithm, 'kms:MessageType': input.MessageType },
  }
}

function readHash(algorithm: string): string {
  return `sha${algorithm.slice(-3)}`
}

function readDigest(hash: string, input: v.InferOutput<typeof SignInput>): Buffer {
  if (input.MessageType === 'RAW') return createHash(hash).update(input.Message).digest()
  if (input.Message.length * 8 !== Number(hash.slice(3)))
    throw new AwsError(
      'ValidationException',
      `Digest is invalid length for algorithm ${input.SigningAlgorithm}.`,
    )
  return input.Message
}
