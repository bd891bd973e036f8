import { drainMilliseconds, type KeyTransition, type KeyTimes } from './apply-change.ts'
import { activationDue, publicationDue } from './next-due.ts'
import { type Attempt, keyIn, type SigningKeySet, type SigningKey } from './key-set.ts'

/** What a run was called for. */
export type RotationRequest =
  | { action: 'clock' }
  /** Starts a rotation; under `emergency` the new key signs at once. A rotation begun at or after `at` fulfils it. */
  | { action: 'rotate'; emergency: boolean; at: number }
  | { action: 'revoke'; kid: string }

/** What must be done next. `requested` tells whether the call asked for it, or it was due anyhow. */
export type Step =
  | { kind: 'change'; change: Exclude<KeyTransition, { action: 'publish' | 'disable' }>; requested: boolean }
  /** Go on with the CreateKey that is under way. */
  | { kind: 'finish'; attempt: Attempt }
  | { kind: 'make'; purpose: Attempt['purpose']; replaces: string | null; requested: boolean }
  /** The life of tokens or of caches has grown: remember it with the signer. */
  | { kind: 'remember'; afterlifeMilliseconds: number }
  /** Have KMS disable a retired key. */
  | { kind: 'dispose'; key: SigningKey }
  | { kind: 'none' }

/**
 * Most keys in the ring for which the clock makes another one: the key set stays under the 150,000 bytes that API Gateway
 * reads, and the ring under DynamoDB's 400 KB. Only a period shorter than a token's life by orders of magnitude gets here.
 */
const mostKeys = 100

/**
 * The next step from a state of the ring: a pure function, so that runs which meet, or which die, all follow one path. First what
 * needs nothing but a write, then what needs a new key, then what KMS must do with old ones.
 */
export function nextStep(ring: SigningKeySet, request: RotationRequest, times: KeyTimes, now: number): Step {
  const active = keyIn(ring.keys, 'active')
  return (
    writable(ring, active, request, times, now) ??
    (ring.attempt === null ? makeable(ring, active, request, times, now) : finish(ring.attempt)) ??
    disposable(ring) ?? { kind: 'none' }
  )
}

const finish = (attempt: Attempt): Step => ({ kind: 'finish', attempt })

function writable(
  { keys }: SigningKeySet,
  active: SigningKey | undefined,
  request: RotationRequest,
  times: KeyTimes,
  now: number,
): Step | undefined {
  const next = keyIn(keys, 'published')
  const revoked = keys.find(
    ({ kid, state }) => request.action === 'revoke' && kid === request.kid && state !== 'retired',
  )
  if (revoked !== undefined && revoked !== active) {
    return { kind: 'change', change: { action: 'revoke', kid: revoked.kid }, requested: true }
  }
  if (next !== undefined) {
    if (revoked !== undefined) {
      const change = { action: 'revoke', kid: revoked.kid, successor: next.kid } as const
      return { kind: 'change', change, requested: true }
    }
    const urgent = wantsEmergency(request, active)
    if (active === undefined || urgent || activationDue(next, times) <= now) {
      return { kind: 'change', change: { action: 'activate', kid: next.kid }, requested: urgent }
    }
  }
  const over = keys.find(
    ({ state, remove_after }) => state === 'retiring' && remove_after !== null && remove_after <= now,
  )
  if (over !== undefined) {
    return { kind: 'change', change: { action: 'retire', kid: over.kid }, requested: false }
  }
  const afterlife = drainMilliseconds(times)
  return active !== undefined && active.afterlife_milliseconds < afterlife
    ? { kind: 'remember', afterlifeMilliseconds: afterlife }
    : undefined
}

function makeable(
  { keys }: SigningKeySet,
  active: SigningKey | undefined,
  request: RotationRequest,
  times: KeyTimes,
  now: number,
): Step | undefined {
  const requested = request.action !== 'clock'
  if (active === undefined) return { kind: 'make', purpose: 'activate', replaces: null, requested: false }
  if (request.action === 'revoke' && request.kid === active.kid) {
    return { kind: 'make', purpose: 'replace', replaces: active.kid, requested }
  }
  if (wantsEmergency(request, active)) {
    return { kind: 'make', purpose: 'activate', replaces: null, requested }
  }
  if (keyIn(keys, 'published') !== undefined) return undefined
  if (request.action === 'rotate' && (active.active_at ?? 0) < request.at) {
    return { kind: 'make', purpose: 'publish', replaces: null, requested }
  }
  return publicationDue(active, times) <= now && keys.length < mostKeys
    ? { kind: 'make', purpose: 'publish', replaces: null, requested: false }
    : undefined
}

/** Whether an emergency was called that no key has answered yet by becoming active since. */
const wantsEmergency = (request: RotationRequest, active: SigningKey | undefined): boolean =>
  request.action === 'rotate' && request.emergency && (active?.active_at ?? 0) < request.at

function disposable({ keys }: SigningKeySet): Step | undefined {
  const key = keyIn(keys, 'retired')
  return key === undefined ? undefined : { kind: 'dispose', key }
}
