import { VerifyCommand } from '@aws-sdk/client-kms'
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import * as v from 'valibot'
import { kms } from '../aws/kms.ts'
import { errorSummary, log } from '../log.ts'
import { toJwk } from './jwks.ts'
import type { MadeKey } from './made-key.ts'
import { signDigest } from './sign-digest.ts'

/** What a signature made by KMS for the occasion has shown about a key. */
export const KeyCheck = v.object({
  kid: v.string(),
  arn: v.string(),
  /** Whether KMS signed. */
  signed: v.boolean(),
  /** Whether KMS verifies that signature. */
  verified_by_kms: v.boolean(),
  /** Whether the public key, as the key set publishes it, verifies that signature. */
  verified_by_jwk: v.boolean(),
})
export type KeyCheck = v.InferOutput<typeof KeyCheck>

/** Signs something that was never signed before and verifies it, by KMS and by the published half. Never throws: what failed is false. */
export async function checkKey(key: MadeKey): Promise<KeyCheck> {
  const result = { kid: key.kid, arn: key.arn, signed: false, verified_by_kms: false, verified_by_jwk: false }
  const message = randomBytes(32)
  const digest = createHash('sha256').update(message).digest()
  try {
    const signature = await signDigest(key.arn, digest)
    result.signed = true
    const jwk = createPublicKey({ key: { ...toJwk(key) }, format: 'jwk' })
    result.verified_by_jwk = verify('sha256', message, jwk, signature)
    const { SignatureValid } = await kms.send(
      new VerifyCommand({
        KeyId: key.arn,
        Message: digest,
        MessageType: 'DIGEST',
        Signature: signature,
        SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
      }),
    )
    result.verified_by_kms = SignatureValid === true
  } catch (error) {
    log.error('a signing key failed its check', { kid: key.kid, cause: errorSummary(error) })
  }
  return result
}

/** Whether a key signs and its signatures verify, everywhere. */
export const isSound = (check: KeyCheck): boolean =>
  check.signed && check.verified_by_kms && check.verified_by_jwk
