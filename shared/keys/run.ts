import { setTimeout as wait } from 'node:timers/promises'
import { LimitExceededException } from '@aws-sdk/client-kms'
import { countFailure, isUnavailable } from '../faults.ts'
import { errorSummary, log } from '../log.ts'
import { settings } from '../settings.ts'
import { decideRotation, type RotationRequest } from './decide.ts'
import type { Evidence } from './evidence.ts'
import { activeKey, isArchived, readKeySet, type SigningKeySet } from './set.ts'
import { type Run, type StepOf, takeStep } from './steps.ts'
import { lookaheadMilliseconds, nextDue, remainingSigningMilliseconds } from './times.ts'

/** Result of a rotation run. */
export interface RotationResult {
  /** kid of the key that signs after the run. */
  signer: string | null
  transitions: Pick<Evidence, 'sequence' | 'action' | 'old_kid' | 'new_kid'>[]
  /** The retiring keys. Functions may still sign with such a key for `may_sign_milliseconds`. */
  retiring: { kid: string; may_sign_milliseconds: number }[]
  /** When the next step of the rotation is due, epoch milliseconds. */
  next_due: number
  /**
   * Whether the next runs must finish this run's work, because KMS lags or an AWS call failed for a moment.
   */
  waits_for_kms: boolean
}

/**
 * Maximum number of steps of a rotation run, waits and lost races included. A run that exceeds it fails, and
 * the next one continues.
 */
const maxSteps = 400

/** How long a run waits while another run creates a key. KMS creates a key in less time. */
const patienceMilliseconds = 10_000

/**
 * Runs the rotation: reads the key set, decides the next step, takes it, and repeats until nothing is left to
 * do. Every write is conditional on the key set that was read, so simultaneous or crashed runs do no harm.
 *
 * Throws if a key that is about to be used fails its check. If KMS refuses to sign with a new key, this run
 * and later runs try again. If KMS still refuses after `kmsLagMilliseconds`, a scheduled run throws, but a
 * requested rotation creates another key. If AWS fails for a moment, a scheduled run leaves its step to the
 * next run, but a requested run throws.
 */
export async function rotateKeys(
  request: RotationRequest,
  invocation: Pick<Run, 'id' | 'requestedBy' | 'waitUntil'>,
): Promise<RotationResult> {
  const times = settings()
  const run: Run = { ...invocation, request, times, knowledge: {}, transitions: [], refusals: 0 }
  if (request.action === 'revoke') await requireKnownKey(request.kid)
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const keySet = await readKeySet()
    const { knowledge } = run
    const state = { keySet, request, times, patienceMilliseconds, knowledge, now: Date.now() }
    const step = decideRotation(state)
    if (step.kind === 'done' && (await awaitDueStep(keySet, run))) continue
    if (step.kind === 'done' || step.kind === 'leaveToNextRun') return summarize(step, keySet, run)
    try {
      await takeStep(step, keySet, run)
    } catch (error) {
      if (request.action !== 'clock' || !isPassing(error)) throw error
      log.warn('the rotation goes on in the next run', { step: step.kind, cause: errorSummary(error) })
      countFailure(error)
      return summarize({ kind: 'leaveToNextRun', overdue: false }, keySet, run)
    }
  }
  throw new Error('the signing key set did not settle')
}

/**
 * Waits until the rotation's next step is due, if it is due soon, and resolves with true. Resolves with false
 * at once if the step is for a later run.
 */
async function awaitDueStep(keySet: SigningKeySet, { request, times, waitUntil }: Run): Promise<boolean> {
  const due = nextDue(keySet, times)
  const pause = due - Date.now()
  if (request.action !== 'clock' || due > waitUntil) return false
  if (pause <= 0 || pause > lookaheadMilliseconds(times)) return false
  await wait(pause)
  return true
}

/** Whether a failure is temporary. An exhausted key quota is not temporary, but looks like throttling. */
const isPassing = (error: unknown): boolean =>
  isUnavailable(error) && !(error instanceof LimitExceededException)

async function requireKnownKey(kid: string): Promise<void> {
  const { keys } = await readKeySet()
  if (keys.some((key) => key.kid === kid) || (await isArchived(kid))) return
  throw new Error('there is no signing key of this kid')
}

/** Returns the result of a run. Throws if KMS still refuses a new key after `kmsLagMilliseconds`. */
function summarize(
  step: StepOf<'done' | 'leaveToNextRun'>,
  keySet: SigningKeySet,
  { transitions, times }: Run,
): RotationResult {
  const waits = step.kind === 'leaveToNextRun'
  if (waits && step.overdue)
    throw new Error('KMS refuses the use of the new signing key: a requested rotation makes another')
  const retiring = keySet.keys.filter(({ state }) => state === 'retiring')
  const now = Date.now()
  return {
    signer: activeKey(keySet)?.kid ?? null,
    transitions: transitions.map(({ sequence, action, old_kid, new_kid }) => ({
      sequence,
      action,
      old_kid,
      new_kid,
    })),
    retiring: retiring.map((key) => ({
      kid: key.kid,
      may_sign_milliseconds: remainingSigningMilliseconds(key, times, now),
    })),
    next_due: nextDue(keySet, times),
    waits_for_kms: waits,
  }
}
