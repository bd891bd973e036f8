import { type Settings, settings } from '../settings.ts'
import type { SigningKey, SigningKeySet } from './set.ts'

/** The settings that decide when a signing key changes its state. */
export type KeyTimes = Pick<
  Settings,
  | 'accessTokenTtlSeconds'
  | 'signingKeyRotationDays'
  | 'signingKeyPublishSeconds'
  | 'signingKeyRetireMarginSeconds'
>

const dayMilliseconds = 86_400_000

/** Maximum time for which a signer uses a cached key set, however long the publish window is. */
const maxSignerCacheMilliseconds = 60_000

/**
 * How long a signer may use a key set that it has read: half the publish window, at most 60 s. The limit
 * ensures that every signer knows a published key before that key signs. A rotation can tell from it how long
 * the old key still signs.
 */
export const signerCacheMilliseconds = (publishSeconds: number): number =>
  Math.min((publishSeconds * 1000) / 2, maxSignerCacheMilliseconds)

/**
 * How long a function may serve the JWKS from memory when requests are frequent: one second, or the maximum
 * age of a signer's key set if that is shorter.
 */
export const jwksCacheMilliseconds = (): number =>
  Math.min(1_000, signerCacheMilliseconds(settings().signingKeyPublishSeconds))

/**
 * The configured `max-age` of the JWKS and the discovery document, in seconds, limited to half the publish
 * window. So every client has seen a key before the key signs.
 */
export const documentMaxAgeSeconds = (): number =>
  Math.min(settings().jwksMaxAgeSeconds, Math.floor(settings().signingKeyPublishSeconds / 2))

/** How long a token may still be valid after its key has stopped signing, with the current settings. */
export const drainMilliseconds = (times: KeyTimes): number =>
  signerCacheMilliseconds(times.signingKeyPublishSeconds) + times.accessTokenTtlSeconds * 1000

/** Maximum time that the write of a key transition takes, plus the maximum clock skew. */
export const commitSlackMilliseconds = 3_000

/**
 * Maximum time for which KMS may refuse calls with a new key, or may show a changed key's old state. AWS
 * states five minutes for tags and "several minutes" for other changes (KMS Developer Guide: "ABAC for AWS
 * KMS", "Eventual consistency").
 */
export const kmsLagMilliseconds = 10 * 60_000

/**
 * Earliest time at which a key can leave the JWKS if it is replaced now. Functions sign with the key until
 * their cached key sets expire. Then the key's last token must expire. The retire margin is for verifiers
 * with slow clocks.
 */
export const removalDue = (key: SigningKey, times: KeyTimes, now: number): number =>
  now +
  commitSlackMilliseconds +
  Math.max(key.drain_ms, drainMilliseconds(times)) +
  times.signingKeyRetireMarginSeconds * 1000

/**
 * Milliseconds until a retiring key signs no more. Until then, a function may still sign with this key, from
 * a cached key set.
 */
export const remainingSigningMilliseconds = (
  { retiring_at }: Pick<SigningKey, 'retiring_at'>,
  { signingKeyPublishSeconds }: Pick<KeyTimes, 'signingKeyPublishSeconds'>,
  now: number,
): number =>
  Math.max(
    0,
    (retiring_at ?? 0) + commitSlackMilliseconds + signerCacheMilliseconds(signingKeyPublishSeconds) - now,
  )

/** The time from which a published key may sign. It is the end of the key's publish window. */
export const activationDue = (key: SigningKey, times: KeyTimes): number =>
  key.published_at + times.signingKeyPublishSeconds * 1000

/** The time at which the next key must be published, so that it can sign when the rotation period ends. */
export const publicationDue = (active: SigningKey, times: KeyTimes): number =>
  (active.active_at ?? 0) +
  Math.max(0, times.signingKeyRotationDays * dayMilliseconds - times.signingKeyPublishSeconds * 1000)

/** The longest wait of a scheduled run for a step that is due soon: half of the time until the next run. */
const maxLookaheadMilliseconds = 30_000

/**
 * How long a scheduled run waits for a step that is due soon. A step is due some seconds after a run started,
 * because it is counted from what an earlier run did after its own start. Left to the next run, it would come
 * nearly a minute late: a publish window of three minutes would last four. The wait is short beside a short
 * publish window.
 */
export const lookaheadMilliseconds = ({
  signingKeyPublishSeconds,
}: Pick<KeyTimes, 'signingKeyPublishSeconds'>): number =>
  Math.min(maxLookaheadMilliseconds, (signingKeyPublishSeconds * 1000) / 4)

/** When the next step of the rotation is due, epoch milliseconds; in the past if a step is due already. */
export function nextDue({ keys, attempt }: Pick<SigningKeySet, 'keys' | 'attempt'>, times: KeyTimes): number {
  const dues = keys.map((key) => keyDue(key, keys, times))
  if (attempt !== null) dues.push(attempt.started_at)
  if (!keys.some(({ state }) => state === 'active')) dues.push(0)
  return Math.min(...dues)
}

function keyDue(key: SigningKey, keys: readonly SigningKey[], times: KeyTimes): number {
  switch (key.state) {
    case 'published':
      return activationDue(key, times)
    case 'active':
      return keys.some(({ state }) => state === 'published') ? Infinity : publicationDue(key, times)
    case 'retiring':
      return key.remove_after ?? Infinity
    case 'retired':
      return key.retired_at ?? 0
  }
}
