import { SignCommand } from '@aws-sdk/client-kms'
import { base64url } from 'jose'
import { createHash } from 'node:crypto'
import { kms } from '../aws/kms.ts'
import { cacheRead } from '../cache-read.ts'
import { Failure } from '../errors.ts'
import { pauseInvocation } from '../invocation.ts'
import { settings } from '../settings.ts'
import { signingAlgorithm } from '../aws/signing-key-names.ts'
import { activeKey, readKeySet, type SigningKey, type SigningKeySet } from './set.ts'
import {
  commitSlackMilliseconds,
  jwksCacheMilliseconds,
  kmsLagMilliseconds,
  signerCacheMilliseconds,
} from './times.ts'

/** Caches the key set for signing. A key set without an active key is read again for every signature. */
const keySets = cacheRead(readKeySet, {
  maxAge: () => signerCacheMilliseconds(settings().signingKeyPublishSeconds),
  keeps: (keySet) => activeKey(keySet) !== undefined,
})

/** Drops the cached key set, which has turned out to be outdated: the next signature reads it again. */
export const forgetCachedKeySet: () => void = keySets.forget

/** Signs a SHA-256 digest with RS256 in KMS. */
export async function signDigest(arn: string, digest: Uint8Array): Promise<Uint8Array> {
  const { Signature } = await kms.send(
    new SignCommand({
      KeyId: arn,
      Message: digest,
      MessageType: 'DIGEST',
      SigningAlgorithm: signingAlgorithm,
    }),
  )
  if (Signature === undefined) throw new Error('KMS answered Sign without a signature')
  return Signature
}

const refusals = /^(AccessDenied|Disabled|KMSInvalidState|NotFound)Exception$/

/**
 * Whether an error means that KMS refuses a key: unknown, in the wrong state, or denied by a policy. KMS can
 * also refuse a new key for some minutes after its creation.
 */
export const isUnusable = (error: unknown): boolean => error instanceof Error && refusals.test(error.name)

/** Value of `Retry-After`, in seconds, while no key can sign. */
const noSignerSeconds = 5

/**
 * Signs a JWT (RFC 7519) with RS256 and the active key, in one KMS call. If that key was just revoked, reads
 * the key set again and signs with the key's successor. Throws `unavailable` while no key can sign: before a
 * deployment's first key, while the active key is disabled in KMS, or until IAM sees a new key's tag.
 */
export async function signJwt(claims: Record<string, unknown>): Promise<string> {
  try {
    return await signWithActiveKey(claims)
  } catch (error) {
    if (!(error instanceof Failure) || error.cause === undefined) throw error
  }
  forgetCachedKeySet()
  return signWithActiveKey(claims)
}

async function signWithActiveKey(claims: Record<string, unknown>): Promise<string> {
  const keySet = await keySets.get()
  const key = activeKey(keySet)
  if (key === undefined) throw noSigner()
  await untilPublished(key, keySet)
  const input = `${encode({ alg: 'RS256', kid: key.kid, typ: 'JWT' })}.${encode(claims)}`
  try {
    const signature = await signDigest(key.arn, createHash('sha256').update(input).digest())
    return `${input}.${base64url.encode(signature)}`
  } catch (error) {
    throw canPass(error, key) ? noSigner(error) : error
  }
}

/**
 * Waits until every function's cached JWKS has the key. This takes time only in an emergency. For the first
 * key of a deployment, there is no wait, because an empty JWKS is not cached.
 */
async function untilPublished({ published_at }: SigningKey, { keys }: SigningKeySet): Promise<void> {
  const cacheMilliseconds = jwksCacheMilliseconds()
  const isNew = Date.now() - published_at < commitSlackMilliseconds + cacheMilliseconds
  if (isNew && keys.length > 1) await pauseInvocation(cacheMilliseconds)
}

/**
 * Whether a failed signature can succeed later. KMS denies access to a new key until IAM sees the key's tag.
 * If KMS denies access to an older key, a policy is wrong.
 */
const canPass = (error: unknown, { published_at }: SigningKey): boolean =>
  isUnusable(error) &&
  ((error as Error).name !== 'AccessDeniedException' || Date.now() - published_at < kmsLagMilliseconds)

const noSigner = (cause?: unknown): Failure =>
  new Failure('unavailable', { retryAfterSeconds: noSignerSeconds, cause })

const encode = (part: Record<string, unknown>): string => base64url.encode(JSON.stringify(part))
