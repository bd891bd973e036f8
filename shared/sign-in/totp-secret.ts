import { DecryptCommand, EncryptCommand } from '@aws-sdk/client-kms'
import { ScureBase32Plugin } from 'otplib'
import * as v from 'valibot'
import { kms } from '../aws/kms.ts'
import { requireEnv } from '../env.ts'

const base32 = new ScureBase32Plugin()

/** Least and most bytes of a secret. RFC 4226 §4 asks for 16, but authenticators in use were enrolled with 10. */
export const secretByteLimits = { least: 10, most: 64 }

/** A TOTP secret in base32, with or without padding, in either case. */
export const TotpSecret = v.pipe(
  v.string(),
  v.maxLength(120, 'must have at most 120 characters'),
  v.transform((text) => text.replace(/=+$/, '').toUpperCase()),
  v.check((text) => {
    const length = decodedLength(text)
    return length !== undefined && length >= secretByteLimits.least && length <= secretByteLimits.most
  }, `must be base32 of ${secretByteLimits.least} to ${secretByteLimits.most} bytes`),
)

function decodedLength(text: string): number | undefined {
  try {
    return base32.decode(text).length
  } catch {
    // The decoder's error quotes the secret; that there was one is all that may be known.
    return undefined
  }
}

/** A user's TOTP secret as it may be stored: under KMS, and readable for no other user. */
export async function encryptTotpSecret(userId: number, secret: string): Promise<Uint8Array> {
  const { CiphertextBlob } = await kms.send(
    new EncryptCommand({
      KeyId: requireEnv('TOTP_KEY_ID'),
      Plaintext: new TextEncoder().encode(secret),
      EncryptionContext: context(userId),
    }),
  )
  if (CiphertextBlob === undefined) throw new Error('KMS gave no ciphertext')
  return CiphertextBlob
}

/** The TOTP secret that encryptTotpSecret stored for the same user. */
export async function decryptTotpSecret(userId: number, ciphertext: Uint8Array): Promise<string> {
  const { Plaintext } = await kms.send(
    new DecryptCommand({
      KeyId: requireEnv('TOTP_KEY_ID'),
      CiphertextBlob: ciphertext,
      EncryptionContext: context(userId),
    }),
  )
  if (Plaintext === undefined) throw new Error('KMS gave no plaintext')
  return new TextDecoder().decode(Plaintext)
}

const context = (userId: number) => ({ user_id: String(userId) })
