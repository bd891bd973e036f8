import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * What is stored of a client's secret: a salt and a SHA-256. Client secrets are made by machines with at least 128 bits of
 * randomness (RFC 6749 §10.10), so a slow hash would protect nothing and slow every exchange.
 */
export function hashClientSecret(secret: string): string {
  const salt = randomBytes(16).toString('base64url')
  return `${salt}.${digest(salt, secret).toString('base64url')}`
}

/** Whether a secret is the one that was stored, in a time that does not depend on where they differ. */
export function isClientSecret(secret: string, stored: string): boolean {
  const [salt = '', hash = ''] = stored.split('.')
  const expected = Buffer.from(hash, 'base64url')
  const actual = digest(salt, secret)
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}

const digest = (salt: string, secret: string): Buffer =>
  createHash('sha256').update(salt).update('.').update(secret).digest()
