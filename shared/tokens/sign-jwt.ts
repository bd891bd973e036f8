import { createHash } from 'node:crypto'
import { emitMetric } from '../emit-metric.ts'
import { Failure } from '../errors.ts'
import { forgetCachedKeySet, cachedKeySet } from '../keys/cached-ring.ts'
import { activeKey } from '../keys/key-set.ts'
import { signDigest } from '../keys/sign-digest.ts'

/** What KMS answers for a key that does not sign: revoked a moment ago, or disabled behind the service's back. */
const stoppedSigning = new Set(['DisabledException', 'KMSInvalidStateException', 'NotFoundException'])

/** When to ask again while no key signs. */
const noSignerSeconds = 5

/**
 * A JWT (RFC 7519) of the claims, RS256, signed by the active key with one KMS call. Where that key was revoked a moment ago, the
 * ring is read again and its successor signs. Where no key signs, before a deployment's first one or while somebody has
 * disabled the active one, there is `unavailable`.
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
  emitMetric('Signatures', 1)
  return `${input}.${Buffer.from(signature).toString('base64url')}`
}

const encode = (part: Record<string, unknown>): string =>
  Buffer.from(JSON.stringify(part)).toString('base64url')
