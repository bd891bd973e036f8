import { type Attempt, keyIn, type SigningKey, type SigningKeySet } from './key-set.ts'
import { activationDue, drainMilliseconds, type KeyTimes, publicationDue } from './key-times.ts'
import type { KeyTransition } from './key-transitions.ts'

/** The call of a rotation run: by the schedule, for a rotation, or for a revocation. */
export type RotationRequest =
  | { action: 'clock' }
  /**
   * A requested rotation. With `emergency` the new key signs at once. A rotation that began at or after `at`
   * fulfils the request, too.
   */
  | { action: 'rotate'; emergency: boolean; at: number }
  | { action: 'revoke'; kid: string }

/** What a rotation run has found out itself; it is not stored. */
export interface RunKnowledge {
  /** What this run knows of a key creation attempt: that it began it, its KMS key, or that it has none. */
  attempt?: { id: string } & ({ state: 'begun' } | { state: 'created'; arn: string } | { state: 'not_found' })
  /** Whether this run has already looked in KMS for the keys of orphaned attempts. */
  swept?: boolean
}

/** Everything that the decision on the next rotation step depends on. */
export interface RotationState {
  keySet: SigningKeySet
  request: RotationRequest
  times: KeyTimes
  /** How long another run's key creation attempt is given to finish. */
  patienceMilliseconds: number
  knowledge: RunKnowledge
  now: number
}

/** The next step of a rotation run. `requested` says whether the call asked for it or it was due anyway. */
export type RotationStep =
  | {
      kind: 'transition'
      transition: Exclude<KeyTransition, { action: 'publish' | 'disable' }>
      requested: boolean
    }
  /** The token lifetime or the signer cache age was raised: store the longer drain time with the signer. */
  | { kind: 'raiseDrain'; drainMilliseconds: number }
  | { kind: 'beginAttempt'; purpose: Attempt['purpose']; replaces: string | null; requested: boolean }
  /** Call KMS CreateKey for the attempt that this run has begun. */
  | { kind: 'createKey'; attempt: Attempt }
  /** Wait, to give another run time to finish its key creation attempt. */
  | { kind: 'wait' }
  /** The run that began the attempt seems dead: look in KMS for the key that it may have created. */
  | { kind: 'findKey'; attempt: Attempt }
  /** KMS has no key of the attempt: give the attempt up and begin another one for the same purpose. */
  | { kind: 'restartAttempt'; attempt: Attempt }
  /** Add the key that KMS has created to the key set. */
  | { kind: 'addKey'; attempt: Attempt; arn: string }
  /** Disable a retired key in KMS, then archive it. */
  | { kind: 'disableKey'; key: SigningKey }
  /** Disable the KMS keys of these orphaned attempts, then keep only `remaining` on record. */
  | { kind: 'sweepOrphans'; attemptIds: string[]; remaining: SigningKeySet['orphaned_attempts'] }
  | { kind: 'done' }

/**
 * Number of keys from which on scheduled runs create no further one. It keeps the JWKS under the 150,000
 * bytes that API Gateway reads and the item under DynamoDB's 400 KB. Only a rotation period far shorter than
 * the token lifetime reaches it.
 */
const maxKeys = 100

/** How long the KMS key of an orphaned attempt may appear late. No call or listing of KMS takes that long. */
const orphanMilliseconds = 15 * 60_000

/**
 * Decides the next step of a rotation. It is a pure function of the state, so runs that compete or crash all
 * follow the same path. Steps that only need a write come first, then steps that need a new key, then
 * disabling old keys in KMS.
 */
export const decideRotation = (state: RotationState): RotationStep =>
  decideRevocation(state) ??
  decideActivation(state) ??
  decideRetirement(state) ??
  decideDrain(state) ??
  (state.keySet.attempt === null ? decideNewKey(state) : continueAttempt(state.keySet.attempt, state)) ??
  decideTidying(state)

function decideRevocation({ keySet: { keys }, request }: RotationState): RotationStep | undefined {
  if (request.action !== 'revoke') return undefined
  const key = keys.find(({ kid, state }) => kid === request.kid && state !== 'retired')
  if (key === undefined) return undefined
  const { kid } = key
  if (key.state !== 'active')
    return { kind: 'transition', transition: { action: 'revoke', kid }, requested: true }
  const successor = keyIn(keys, 'published')?.kid
  // A revoked signer needs a successor. If there is none, create one first.
  if (successor === undefined) return undefined
  return { kind: 'transition', transition: { action: 'revoke', kid, successor }, requested: true }
}

function decideActivation({
  keySet: { keys },
  request,
  times,
  now,
}: RotationState): RotationStep | undefined {
  const active = keyIn(keys, 'active')
  const next = keyIn(keys, 'published')
  if (next === undefined) return undefined
  const urgent = wantsEmergency(request, active)
  if (active !== undefined && !urgent && activationDue(next, times) > now) return undefined
  return { kind: 'transition', transition: { action: 'activate', kid: next.kid }, requested: urgent }
}

function decideRetirement({ keySet: { keys }, now }: RotationState): RotationStep | undefined {
  const drained = keys.find(
    ({ state, remove_after: until }) => state === 'retiring' && until !== null && until <= now,
  )
  return (
    drained && {
      kind: 'transition',
      transition: { action: 'retire', kid: drained.kid },
      requested: false,
    }
  )
}

function decideDrain({ keySet: { keys }, times }: RotationState): RotationStep | undefined {
  const active = keyIn(keys, 'active')
  const drain = drainMilliseconds(times)
  return active !== undefined && active.drain_ms < drain
    ? { kind: 'raiseDrain', drainMilliseconds: drain }
    : undefined
}

function decideNewKey({ keySet: { keys }, request, times, now }: RotationState): RotationStep | undefined {
  const begin = (purpose: Attempt['purpose'], requested: boolean): RotationStep => ({
    kind: 'beginAttempt',
    purpose,
    replaces: purpose === 'replace' && active !== undefined ? active.kid : null,
    requested,
  })
  const active = keyIn(keys, 'active')
  if (active === undefined) return begin('activate', false)
  if (request.action === 'revoke' && request.kid === active.kid) return begin('replace', true)
  if (wantsEmergency(request, active)) return begin('activate', true)
  if (keyIn(keys, 'published') !== undefined) return undefined
  if (request.action === 'rotate' && (active.active_at ?? 0) < request.at) return begin('publish', true)
  return publicationDue(active, times) <= now && keys.length < maxKeys ? begin('publish', false) : undefined
}

/** Whether an emergency rotation was requested and no key has become active since. */
const wantsEmergency = (request: RotationRequest, active: SigningKey | undefined): boolean =>
  request.action === 'rotate' && request.emergency && (active?.active_at ?? 0) < request.at

function continueAttempt(
  attempt: Attempt,
  { knowledge, patienceMilliseconds, now }: RotationState,
): RotationStep {
  const known = knowledge.attempt
  if (known?.id !== attempt.id) {
    return now - attempt.started_at < patienceMilliseconds ? { kind: 'wait' } : { kind: 'findKey', attempt }
  }
  switch (known.state) {
    case 'begun':
      return { kind: 'createKey', attempt }
    case 'created':
      return { kind: 'addKey', attempt, arn: known.arn }
    case 'not_found':
      return { kind: 'restartAttempt', attempt }
  }
}

function decideTidying({ keySet, knowledge, now }: RotationState): RotationStep {
  const retired = keyIn(keySet.keys, 'retired')
  if (retired !== undefined) return { kind: 'disableKey', key: retired }
  const orphans = keySet.orphaned_attempts
  if (orphans.length === 0 || knowledge.swept) return { kind: 'done' }
  return {
    kind: 'sweepOrphans',
    attemptIds: orphans.map(({ id }) => id),
    remaining: orphans.filter(({ started_at }) => now - started_at < orphanMilliseconds),
  }
}
