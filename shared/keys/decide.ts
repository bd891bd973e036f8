import { type Attempt, keyIn, type SigningKey, type SigningKeySet } from './set.ts'
import {
  activationDue,
  drainMilliseconds,
  kmsLagMilliseconds,
  type KeyTimes,
  publicationDue,
} from './times.ts'
import type { KeyTransition } from './transition.ts'

/** What started a rotation run: the schedule (`clock`), or a request for a rotation or a revocation. */
export type RotationRequest =
  | { action: 'clock' }
  /**
   * A request for a new key, made at the instant `at`. If a key has become active since, nothing is done.
   * With `emergency`, the new key signs at once.
   */
  | { action: 'rotate'; emergency: boolean; at: number }
  | { action: 'revoke'; kid: string }

/** Facts that a rotation run has found out itself; they are not stored. */
export interface RunKnowledge {
  /**
   * What this run knows of an attempt to create a key. `begun`: this run began the attempt. `created`: KMS
   * has created the key. `unusable`: KMS refuses the key.
   */
  attempt?: { id: string } & ({ state: 'begun' } | { state: 'created'; arn: string } | { state: 'unusable' })
  /** Key ids (`kid`) of retired keys that this run has disabled but KMS does not show as disabled yet. */
  unconfirmed?: readonly string[]
}

/** Everything that the decision on the next rotation step depends on. */
export interface RotationState {
  keySet: SigningKeySet
  request: RotationRequest
  times: KeyTimes
  /** How long to wait for another run to finish its key creation attempt. */
  patienceMilliseconds: number
  knowledge: RunKnowledge
  now: number
}

/** The next step of a run. `requested`: true if a request asked for the step, false if the step was due. */
export type RotationStep =
  | {
      kind: 'transition'
      transition: Exclude<KeyTransition, { action: 'publish' | 'disable' }>
      requested: boolean
    }
  /** Store the active key's drain time, which has become longer because a setting was raised. */
  | { kind: 'raiseDrain'; drainMilliseconds: number }
  | { kind: 'beginAttempt'; requested: boolean }
  /** Call KMS CreateKey for the attempt that this run has begun. */
  | { kind: 'createKey'; attempt: Attempt }
  /** Replace the attempt's trigger with this run's request, which is more urgent. */
  | { kind: 'takeOver'; attempt: Attempt }
  /** Store the ARN of the key that KMS has created for the attempt. */
  | { kind: 'nameKey'; attempt: Attempt; arn: string }
  /** Wait, because the run that began the attempt may still create the key. */
  | { kind: 'wait' }
  /** Begin a new attempt, because KMS refuses the key of `attempt`, or the run that began it seems dead. */
  | { kind: 'restartAttempt'; attempt: Attempt }
  | { kind: 'addKey'; attempt: Attempt; arn: string }
  /** Disable a retired key in KMS, then archive it. */
  | { kind: 'disableKey'; key: SigningKey }
  /** End this run, because KMS lags; the next run continues. `overdue`: KMS has lagged too long. */
  | { kind: 'leaveToNextRun'; overdue: boolean }
  | { kind: 'done' }

/**
 * Scheduled runs create no key while the key set has this many keys. The limit keeps the JWKS under API
 * Gateway's maximum (150,000 bytes), and the key set's item under DynamoDB's maximum (400 KB).
 */
const maxKeys = 100

/**
 * Decides the next step of a rotation from the state alone, so a run can continue what another run began.
 * State changes of existing keys come first, then the creation of new keys, then the disabling of retired
 * keys in KMS.
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
  // A revoked signer needs a successor. If there is none, create one first.
  if (key.state === 'active' && keyIn(keys, 'published') === undefined) return undefined
  return { kind: 'transition', transition: { action: 'revoke', kid: key.kid }, requested: true }
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
  return { kind: 'transition', transition: { action: 'activate' }, requested: urgent }
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
  const begin = (requested: boolean): RotationStep => ({ kind: 'beginAttempt', requested })
  const active = keyIn(keys, 'active')
  if (active === undefined) return begin(false)
  if (request.action === 'revoke' && request.kid === active.kid) return begin(true)
  if (keyIn(keys, 'published') !== undefined) return undefined
  if (request.action === 'rotate' && (active.active_at ?? 0) < request.at) return begin(true)
  return publicationDue(active, times) <= now && keys.length < maxKeys ? begin(false) : undefined
}

/** Whether an emergency rotation was requested and no key has become active since. */
const wantsEmergency = (request: RotationRequest, active: SigningKey | undefined): boolean =>
  request.action === 'rotate' && request.emergency && (active?.active_at ?? 0) < request.at

function continueAttempt(attempt: Attempt, state: RotationState): RotationStep | undefined {
  const { knowledge, patienceMilliseconds, now } = state
  const known = knowledge.attempt?.id === attempt.id ? knowledge.attempt : undefined
  if (isMoreUrgent(state, attempt)) return { kind: 'takeOver', attempt }
  if (known?.state === 'unusable') return restartIfRefused(attempt, state)
  if (attempt.arn !== null) return { kind: 'addKey', attempt, arn: attempt.arn }
  switch (known?.state) {
    case 'begun':
      return { kind: 'createKey', attempt }
    case 'created':
      return { kind: 'nameKey', attempt, arn: known.arn }
    case undefined:
      return now - attempt.started_at < patienceMilliseconds
        ? { kind: 'wait' }
        : { kind: 'restartAttempt', attempt }
  }
}

/** Whether this request for a new key is more urgent than the request that triggered the current attempt. */
function isMoreUrgent({ keySet: { keys }, request }: RotationState, { trigger, replaces }: Attempt): boolean {
  const active = keyIn(keys, 'active')
  if (request.action === 'revoke') return active?.kid === request.kid && replaces !== active.kid
  const isUrgent = active === undefined || trigger.kind === 'emergency' || replaces !== null
  return !isUrgent && wantsEmergency(request, active)
}

/**
 * If KMS still refuses the new key after `kmsLagMilliseconds`, a requested rotation begins another attempt.
 * Scheduled runs do not: if KMS refused every key, each run would create another one.
 */
const restartIfRefused = (attempt: Attempt, state: RotationState): RotationStep | undefined =>
  isOverdue(attempt, state) && state.request.action === 'rotate'
    ? { kind: 'restartAttempt', attempt }
    : undefined

const isOverdue = ({ started_at }: Attempt, { now }: RotationState): boolean =>
  now - started_at >= kmsLagMilliseconds

function decideTidying(state: RotationState): RotationStep {
  const { attempt, keys } = state.keySet
  const unconfirmed = state.knowledge.unconfirmed ?? []
  const retired = keys.find((key) => key.state === 'retired' && !unconfirmed.includes(key.kid))
  if (retired !== undefined) return { kind: 'disableKey', key: retired }
  if (attempt !== null) return { kind: 'leaveToNextRun', overdue: isOverdue(attempt, state) }
  return unconfirmed.length > 0 ? { kind: 'leaveToNextRun', overdue: false } : { kind: 'done' }
}
