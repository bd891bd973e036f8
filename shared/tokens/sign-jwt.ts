import { createHash } from 'node:crypto'
import { emitMetric } from '../emit-metric.ts'
import { Failure } from '../errors.ts'
import { forgetRing, signersRing } from '../keys/cached-ring.ts'
import { activeKey } from '../keys/ring.ts'
import { signDigest } from '../keys/sign-digest.ts'

/** What KMS answers for a key that no longer signs: the ring in memory is older than a revocation. */
const stoppedSigning = new Set(['DisabledException', 'KMSInvalidStateException', 'NotFoundException'])

/**
 * A JWT (RFC 7519) of the claims, RS256, signed by the active key with one KMS call. Where that key was revoked a moment ago, the
 * ring is read again and its successor signs. Before a deployment's first key there is `unavailable`.
 */
export async function signJwt(claims: Record<string, unknown>): Promise<string> {
  try {
    return await signWithActiveKey(claims)
  } catch (error) {
    if (!(error instanceof Error) || !stoppedSigning.has(error.name)) throw error
    forgetRing()
    return await signWithActiveKey(claims)
  }
}

async function signWithActiveKey(claims: Record<string, unknown>): Promise<string> {
  const key = activeKey(await signersRing())
  if (key === undefined) throw new Failure('unavailable', { retryAfterSeconds: 5 })
  const input = `${encode({ alg: 'RS256', kid: key.kid, typ: 'JWT' })}.${encode(claims)}`
  const signature = await signDigest(key.arn, createHash('sha256').update(input).digest())
  emitMetric('Signatures', 1)
  return `${input}.${Buffer.from(signature).toString('base64url')}`
}

const encode = (part: Record<string, unknown>): string =>
  Buffer.from(JSON.stringify(part)).toString('base64url')
