import { base64url } from 'jose'
import { createHash } from 'node:crypto'
import { Failure } from '../errors.ts'
import { cachedKeySet, forgetCachedKeySet } from '../keys/cached-key-set.ts'
import { activeKey } from '../keys/key-set.ts'
import { signDigest } from '../keys/kms-keys.ts'

/** Errors of KMS for a key that does not sign: revoked a moment ago, or disabled by somebody in KMS. */
const stoppedSigning = new Set(['DisabledException', 'KMSInvalidStateException', 'NotFoundException'])

/** `Retry-After` while no key signs. */
const noSignerSeconds = 5

/**
 * A JWT (RFC 7519) of the claims, RS256, signed by the active key with one KMS call. If that key was revoked a moment ago,
 * the key set is read again and its successor signs. Throws `unavailable` while no key signs: before a deployment's first
 * key, or while somebody has disabled the active one in KMS.
 */
export async function signJwt(claims: Record<string, unknown>): Promise<string> {
  try {
    return await signWithActiveKey(claims)
  } catch (error) {
    if (!hasStopped(error)) throw error
    forgetCachedKeySet()
    return await signWithActiveKey(claims).catch(refuseForNow)
  }
}

const hasStopped = (error: unknown): boolean => error instanceof Error && stoppedSigning.has(error.name)

function refuseForNow(error: unknown): never {
  throw hasStopped(error)
    ? new Failure('unavailable', { retryAfterSeconds: noSignerSeconds, cause: error })
    : error
}

async function signWithActiveKey(claims: Record<string, unknown>): Promise<string> {
  const key = activeKey(await cachedKeySet())
  if (key === undefined) throw new Failure('unavailable', { retryAfterSeconds: noSignerSeconds })
  const input = `${encode({ alg: 'RS256', kid: key.kid, typ: 'JWT' })}.${encode(claims)}`
  const signature = await signDigest(key.arn, createHash('sha256').update(input).digest())
  return `${input}.${base64url.encode(signature)}`
}

const encode = (part: Record<string, unknown>): string => base64url.encode(JSON.stringify(part))
