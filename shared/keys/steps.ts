import { setTimeout as wait } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import { isUnavailable } from '../faults.ts'
import { errorSummary, log } from '../log.ts'
import { settings } from '../settings.ts'
import type { RotationRequest, RotationStep, RunKnowledge } from './decide.ts'
import { describeTransition, type Evidence, isSound, type KeyCheck, putEvidence } from './evidence.ts'
import { checkKey, createSigningKey, disableKey, readPublicKey, signEvidence } from './kms.ts'
import {
  type Attempt,
  keyIn,
  putArchived,
  type SigningKey,
  type SigningKeySet,
  type Trigger,
  writeKeySet,
} from './set.ts'
import { isUnusable } from './sign.ts'
import type { KeyTimes } from './times.ts'
import { applyTransition, type KeyTransition, transitionFor, type TransitionResult } from './transition.ts'

/** The state of one rotation run. */
export interface Run {
  request: RotationRequest
  /** Lambda request id of the invocation. */
  id: string
  requestedBy: string | null
  times: KeyTimes
  knowledge: RunKnowledge
  transitions: Evidence[]
  /** The run waits until this instant for KMS to accept a new key, epoch milliseconds. */
  waitUntil: number
  /** How often KMS has refused the use of the new key in this run. */
  refusals: number
}

/** A rotation step of the given kind. */
export type StepOf<Kind extends RotationStep['kind']> = Extract<RotationStep, { kind: Kind }>

/** Longest pause of a run that has lost the race to write the key set. The pause is random. */
const maxRacePauseMilliseconds = 50

/** Polling interval while another run may still finish the creation of a key. */
const pollMilliseconds = 100

/** If KMS refuses a key, the run tries again. It doubles the wait before each retry, up to a maximum. */
const minKmsPauseMilliseconds = 100
const maxKmsPauseMilliseconds = 8_000

/** Takes a step of a rotation run. Writes nothing to the table if another run has changed the key set. */
export async function takeStep(
  step: Exclude<RotationStep, { kind: 'done' | 'leaveToNextRun' }>,
  keySet: SigningKeySet,
  run: Run,
): Promise<void> {
  switch (step.kind) {
    case 'transition':
      return makeTransition(keySet, step.transition, run, { trigger: triggerOf(run, step.requested) })
    case 'raiseDrain':
      return raiseDrain(keySet, step.drainMilliseconds)
    case 'beginAttempt':
      return beginAttempt(keySet, causeOf(run, step.requested), run)
    case 'takeOver':
      return storeAttempt(keySet, { ...step.attempt, ...causeOf(run, true) })
    case 'createKey':
      run.knowledge.attempt = { id: step.attempt.id, state: 'created', arn: await createSigningKey() }
      return
    case 'nameKey':
      // Store the key's ARN at once, so that every run knows the key, even a run that follows a crash.
      return storeAttempt(keySet, { ...step.attempt, arn: step.arn })
    case 'wait':
      return wait(pollMilliseconds)
    case 'restartAttempt':
      log.warn('a signing key is given up, and another one is created', { arn: step.attempt.arn })
      return beginAttempt(keySet, step.attempt, run)
    case 'addKey':
      return addKey(keySet, step, run)
    case 'disableKey':
      return disableRetiredKey(keySet, step.key, run)
  }
}

/** Writes the key set. If another run was faster, waits a moment, so the two runs do not collide again. */
async function tryWrite(...write: Parameters<typeof writeKeySet>): Promise<boolean> {
  const written = await writeKeySet(...write)
  if (!written) await wait(Math.random() * maxRacePauseMilliseconds)
  return written
}

function triggerOf({ request, id, requestedBy }: Run, requested: boolean): Trigger {
  if (!requested) return { kind: 'clock', request_id: id, requested_by: null }
  const kind = request.action === 'rotate' && request.emergency ? 'emergency' : request.action
  return { kind, request_id: id, requested_by: requestedBy }
}

const causeOf = (run: Run, requested: boolean): Pick<Attempt, 'trigger' | 'replaces'> => ({
  trigger: triggerOf(run, requested),
  replaces: requested && run.request.action === 'revoke' ? run.request.kid : null,
})

/**
 * Tests a key, then writes the key set and the evidence. Writes nothing if another run has written the key
 * set first. Throws if a new key or the next signer fails the test (see checkResult).
 */
async function makeTransition(
  keySet: SigningKeySet,
  transition: KeyTransition,
  run: Run,
  { trigger, kmsState = null }: { trigger: Trigger; kmsState?: string | null },
): Promise<void> {
  const { times } = run
  const { action } = transition
  const planned = applyTransition(keySet.keys, transition, times, Date.now())
  const check = await checkResult(planned)
  const context = { action, trigger, run_id: run.id, check, kms_state: kmsState }
  const evidence = await signEvidence(describeTransition(keySet, planned, times, context))
  // Apply the transition again, with the current time, because the calls to KMS took a while.
  const { keys, old } = applyTransition(keySet.keys, transition, times, Date.now())
  const next = { ...keySet, keys, sequence: evidence.sequence, evidence_hash: evidence.hash }
  const archive = action === 'disable' && old !== undefined ? [putArchived(old)] : []
  if (!(await tryWrite(keySet, next, [putEvidence(evidence), ...archive]))) return
  run.transitions.push(evidence)
  const { old_kid, new_kid } = evidence
  log.info('signing keys changed', { action: evidence.action, old_kid, new_kid, trigger: trigger.kind })
}

/** Tests the next key, and throws if it fails. If there is none, tests the signer, but only logs failures. */
async function checkResult({ keys, next }: TransitionResult): Promise<KeyCheck | null> {
  const key = next ?? keyIn(keys, 'active')
  if (key === undefined) return null
  const { check, cause } = await checkKey(key)
  if (isSound(check)) return check
  // A throttle or an outage says nothing about the key: the next run tests the key again.
  if (next !== undefined && isUnavailable(cause)) throw cause
  if (next !== undefined)
    throw new Error(`the signing key ${key.kid} failed its check and was left as it is`, { cause })
  log.error('a signing key failed its check', { kid: key.kid, cause: errorSummary(cause) })
  return check
}

async function raiseDrain(keySet: SigningKeySet, drain_ms: number): Promise<void> {
  const keys = keySet.keys.map((key) => (key.state === 'active' ? { ...key, drain_ms } : key))
  await tryWrite(keySet, { ...keySet, keys })
}

/** Stores the attempt before the key is created in KMS, so that a crash in between leaves a trace. */
async function beginAttempt(
  keySet: SigningKeySet,
  { trigger, replaces }: Pick<Attempt, 'trigger' | 'replaces'>,
  run: Run,
): Promise<void> {
  const id = randomUUID()
  const attempt = { id, started_at: Date.now(), arn: null, trigger, replaces }
  if (await tryWrite(keySet, { ...keySet, attempt })) run.knowledge.attempt = { id, state: 'begun' }
}

async function storeAttempt(keySet: SigningKeySet, attempt: Attempt): Promise<void> {
  await tryWrite(keySet, { ...keySet, attempt })
}

/** Adds a created key to the key set. If KMS refuses the key, the run repeats this step until `waitUntil`. */
async function addKey(keySet: SigningKeySet, { attempt, arn }: StepOf<'addKey'>, run: Run): Promise<void> {
  try {
    const transition = transitionFor(attempt, keySet.keys, await readPublicKey(arn))
    await makeTransition({ ...keySet, attempt: null }, transition, run, { trigger: attempt.trigger })
  } catch (error) {
    const cause = error instanceof Error && isUnusable(error.cause) ? error.cause : error
    if (!isUnusable(cause)) throw error
    log.info('KMS does not let a new signing key be used yet', { arn, cause: errorSummary(cause) })
    const left = run.waitUntil - Date.now()
    if (left <= 0) run.knowledge.attempt = { id: attempt.id, state: 'unusable' }
    else await wait(Math.min(left, maxKmsPauseMilliseconds, minKmsPauseMilliseconds * 2 ** run.refusals))
    run.refusals += 1
  }
}

/** Disables a retired key; once KMS shows it as disabled, writes the evidence and archives the key. */
async function disableRetiredKey(keySet: SigningKeySet, key: SigningKey, run: Run): Promise<void> {
  const { kid, arn, published_at } = key
  const kmsState = await disableKey(arn, settings().signingKeyDeletionDays, published_at)
  if (kmsState === undefined) {
    run.knowledge.unconfirmed = [...(run.knowledge.unconfirmed ?? []), kid]
    return
  }
  const transition = { action: 'disable', kid } as const
  const requested = run.request.action === 'revoke' && run.request.kid === kid
  await makeTransition(keySet, transition, run, { trigger: triggerOf(run, requested), kmsState })
}
