import * as v from 'valibot'
import { generateMac } from '../aws/generate-mac.ts'
import { isSameSecret } from '../is-same-secret.ts'

/**
 * Schema of a client secret: printable ASCII (RFC 6749 appendix A.2), long enough that nobody can guess it
 * (OpenID Connect Core §16.19).
 */
export const ClientSecret = v.pipe(
  v.string(),
  v.regex(/^[\x20-\x7e]{32,512}$/, 'must be 32 to 512 printable ASCII characters'),
)

/**
 * Computes the stored form of a client's secret: its MAC, so that a stolen table neither shows the secret nor
 * allows guessing it offline. The client is part of it, so equal secrets of two clients do not look equal.
 */
export async function macClientSecret(clientId: string, secret: string): Promise<string> {
  // A client_id contains no space, so the two parts can be read in one way only.
  const mac = await generateMac('client-secret', `${clientId} ${secret}`)
  return Buffer.from(mac).toString('base64url')
}

/** Whether a client's secret matches its stored form, compared in constant time. */
export async function isClientSecret(clientId: string, secret: string, stored: string): Promise<boolean> {
  // A text that cannot be registered costs no call of KMS.
  if (!v.is(ClientSecret, secret)) return false
  return isSameSecret(await macClientSecret(clientId, secret), stored)
}
