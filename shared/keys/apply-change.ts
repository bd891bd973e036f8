import { signerCacheMilliseconds } from './cached-ring.ts'
import type { MadeKey } from './made-key.ts'
import { keyIn, type SigningKey } from './key-set.ts'

/** The settings that the lives of keys follow. */
export interface KeyTimes {
  accessTokenTtlSeconds: number
  signingKeyRotationDays: number
  signingKeyPublishSeconds: number
  signingKeyRetireMarginSeconds: number
}

/** One transition of the ring. `made` is a new key that joins the ring with it. */
export type KeyTransition =
  | { action: 'publish'; made: MadeKey }
  | { action: 'activate'; kid: string; made?: MadeKey }
  | { action: 'retire'; kid: string }
  /** Takes a key out of the key set at once; the active one only with a successor that signs from then on. */
  | { action: 'revoke'; kid: string; successor?: string; made?: MadeKey }
  /** Moves a retired key, which KMS has disabled, from the ring to the archive. */
  | { action: 'disable'; kid: string }

/** The ring's keys after a change, and which key gave way to which. */
export interface TransitionResult {
  keys: SigningKey[]
  /** The key that stops: signing, being published, or being usable. */
  old: SigningKey | undefined
  /** The key that joins or takes over. */
  next: SigningKey | undefined
}

/** How long the write of a change may take, and how far clocks may differ, in all. */
export const commitSlackMilliseconds = 3_000

/** For how long, by today's settings, a token may live that is signed by a key that has just stopped signing. */
export const drainMilliseconds = (times: KeyTimes): number =>
  signerCacheMilliseconds(times.signingKeyPublishSeconds) + times.accessTokenTtlSeconds * 1000

/** Applies a change, which must be possible in this state, to the ring's keys; throws, without effect, where it is not. */
export function applyTransition(
  keys: readonly SigningKey[],
  change: KeyTransition,
  times: KeyTimes,
  now: number,
): TransitionResult {
  const joined = 'made' in change ? [...keys, published(change.made, times, now)] : [...keys]
  switch (change.action) {
    case 'publish':
      return { keys: joined, old: undefined, next: joined.at(-1) }
    case 'activate':
      return activate(joined, change.kid, times, now)
    case 'retire':
      return leave(joined, find(joined, change.kid, 'retiring'), now)
    case 'revoke':
      return revoke(joined, change, times, now)
    case 'disable': {
      const old = find(joined, change.kid, 'retired')
      return { keys: joined.filter((key) => key !== old), old, next: undefined }
    }
  }
}

function published(made: MadeKey, times: KeyTimes, now: number): SigningKey {
  return {
    ...made,
    state: 'published',
    published_at: now,
    active_at: null,
    retiring_at: null,
    retired_at: null,
    remove_after: null,
    afterlife_milliseconds: drainMilliseconds(times),
  }
}

/** The published key becomes the signer; the one before stays in the key set until its last token is dead. */
function activate(keys: SigningKey[], kid: string, times: KeyTimes, now: number): TransitionResult {
  const chosen = find(keys, kid, 'published')
  const old = keyIn(keys, 'active')
  const after = keys.map((key): SigningKey => {
    if (key === old) return retiring(key, times, now)
    return key === chosen ? signing(key, times, now) : key
  })
  return { keys: after, old, next: after.find((key) => key.kid === kid) }
}

const signing = (key: SigningKey, times: KeyTimes, now: number): SigningKey => ({
  ...key,
  state: 'active',
  active_at: now,
  afterlife_milliseconds: drainMilliseconds(times),
})

/**
 * The last token that the key may sign is signed by the signer that read the ring last before this change, and expires
 * `afterlife_milliseconds` later at most; then the margin, for verifiers whose clocks are behind.
 */
function retiring(key: SigningKey, times: KeyTimes, now: number): SigningKey {
  const afterlife = Math.max(key.afterlife_milliseconds, drainMilliseconds(times))
  const margin = times.signingKeyRetireMarginSeconds * 1000
  return {
    ...key,
    state: 'retiring',
    retiring_at: now,
    remove_after: now + commitSlackMilliseconds + afterlife + margin,
  }
}

function leave(keys: SigningKey[], old: SigningKey, now: number): TransitionResult {
  const after = keys.map((key): SigningKey =>
    key === old ? { ...key, state: 'retired', retired_at: now } : key,
  )
  return { keys: after, old, next: undefined }
}

function revoke(
  keys: SigningKey[],
  { kid, successor }: { kid: string; successor?: string },
  times: KeyTimes,
  now: number,
): TransitionResult {
  const old = find(keys, kid, 'published', 'active', 'retiring')
  const { keys: without } = leave(keys, old, now)
  if (old.state !== 'active') return { keys: without, old, next: undefined }
  if (successor === undefined) throw new Error('the signing key can be revoked only for a successor')
  return { ...activate(without, successor, times, now), old }
}

function find(keys: readonly SigningKey[], kid: string, ...states: SigningKey['state'][]): SigningKey {
  const key = keys.find((candidate) => candidate.kid === kid && states.includes(candidate.state))
  if (key === undefined) throw new Error(`there is no ${states.join(' or ')} key of this kid`)
  return key
}
