import { DecryptCommand, EncryptCommand } from '@aws-sdk/client-kms'
import { createHmac, randomBytes } from 'node:crypto'
import { createGuardrails, ScureBase32Plugin, TOTP } from 'otplib'
import * as v from 'valibot'
import { kms } from '../../aws/kms.ts'
import { requireEnv } from '../../env.ts'
import { isSameSecret } from '../../is-same-secret.ts'

const base32 = new ScureBase32Plugin()

/** TOTP secret lengths in bytes. RFC 4226 §4 requires 16, but authenticators in use were enrolled with 10. */
const secretByteLimits = { min: 10, max: 64 }

/** Schema of a TOTP secret in base32, with or without padding, in upper or lower case. */
export const TotpSecret = v.pipe(
  v.string(),
  v.maxLength(120, 'must have at most 120 characters'),
  // Comes before the conversion, in which `ſ` would become `S`.
  v.regex(/^[A-Za-z2-7]*=*$/, 'must be base32'),
  v.transform((text) => text.replace(/(?<!=)=+$/, '').toUpperCase()),
  v.check((text) => {
    const length = decodedLength(text)
    return length !== undefined && length >= secretByteLimits.min && length <= secretByteLimits.max
  }, `must be base32 of ${secretByteLimits.min} to ${secretByteLimits.max} bytes`),
)

function decodedLength(text: string): number | undefined {
  try {
    return base32.decode(text).length
  } catch {
    // Does not pass on the base32 decoder's error, because it quotes the secret.
    return undefined
  }
}

/** Encrypts a TOTP secret under a KMS key, for storage. It can be decrypted only with the same user id. */
export async function encryptTotpSecret(userId: number, secret: string): Promise<Uint8Array<ArrayBuffer>> {
  const { CiphertextBlob } = await kms.send(
    new EncryptCommand({
      KeyId: requireEnv('TOTP_KEY_ID'),
      Plaintext: new TextEncoder().encode(secret),
      EncryptionContext: encryptionContext(userId),
    }),
  )
  if (CiphertextBlob === undefined) throw new Error('KMS answered Encrypt without a ciphertext')
  return new Uint8Array(CiphertextBlob)
}

/** Decrypts a TOTP secret that encryptTotpSecret encrypted for the same user. */
export async function decryptTotpSecret(userId: number, ciphertext: Uint8Array): Promise<string> {
  const { Plaintext } = await kms.send(
    new DecryptCommand({
      KeyId: requireEnv('TOTP_KEY_ID'),
      CiphertextBlob: ciphertext,
      EncryptionContext: encryptionContext(userId),
    }),
  )
  if (Plaintext === undefined) throw new Error('KMS answered Decrypt without a plaintext')
  return new TextDecoder().decode(Plaintext)
}

const encryptionContext = (userId: number) => ({ user_id: String(userId) })

/** Uses Node's HMAC, because otplib's own HMAC in JavaScript would add 14 KB to a bundle. */
const totp = /* @__PURE__ */ new TOTP({
  base32,
  crypto: {
    name: 'node',
    hmac: (algorithm, key, data) => createHmac(algorithm, key).update(data).digest(),
    randomBytes,
    constantTimeEqual: (one, other) => isSameSecret(String(one), String(other)),
  },
})

const stepSeconds = 30
const guardrails = /* @__PURE__ */ createGuardrails({
  MIN_SECRET_BYTES: secretByteLimits.min,
  MAX_SECRET_BYTES: secretByteLimits.max,
})

/**
 * Finds the time step of a six-digit TOTP (RFC 6238: SHA-1, 30 s, one step of drift either way). Resolves
 * with undefined if the code is wrong or its step is not after `lastStep`, the last accepted step. `now` is
 * in epoch milliseconds.
 */
export async function verifyTotp(
  secret: string,
  code: string,
  lastStep: number | undefined,
  now: number,
): Promise<number | undefined> {
  const epoch = Math.floor(now / 1000)
  // otplib throws an error if the last accepted time step is newer than all valid steps. Such a step can come
  // from an instance whose clock is ahead.
  const newest = Math.floor(epoch / stepSeconds) + 1
  if (lastStep !== undefined && lastStep >= newest) return undefined
  const result = await totp.verify(code, {
    secret,
    epoch,
    epochTolerance: stepSeconds,
    guardrails,
    ...(lastStep === undefined ? {} : { afterTimeStep: lastStep }),
  })
  return result.valid && 'timeStep' in result ? result.timeStep : undefined
}
