import { setTimeout as wait } from 'node:timers/promises'
import { errorSummary, log } from '../log.ts'
import type { RotationRequest, RotationStep, RunKnowledge } from './decide-rotation.ts'
import { describeTransition, type Evidence, isSound, type KeyCheck } from './evidence.ts'
import { keyIn, type SigningKeySet, type Trigger } from './key-set.ts'
import { writeKeySet } from './key-set-store.ts'
import type { KeyTimes } from './key-times.ts'
import { applyTransition, type KeyTransition, type TransitionResult } from './key-transitions.ts'
import { checkKey } from './kms-keys.ts'

/** Maximum random wait after a run lost a race against another one. */
const maxPauseMilliseconds = 50

/** The state of one rotation run. */
export interface Run {
  request: RotationRequest
  /** Lambda request id of the invocation. */
  id: string
  requestedBy: string | null
  times: KeyTimes
  knowledge: RunKnowledge
  transitions: Evidence[]
  /** Until when the run may wait for KMS to let a new key be used, epoch milliseconds. */
  waitUntil: number
  /** How often KMS has refused the use of the new key in this run. */
  refusals: number
}

/** A rotation step of this kind. */
export type StepOf<Kind extends RotationStep['kind']> = Extract<RotationStep, { kind: Kind }>

/**
 * Tests the keys, then writes the key set and the evidence. Writes nothing if another run was faster. Throws
 * if the key that is to be published or to sign fails its test.
 */
export async function makeTransition(
  keySet: SigningKeySet,
  transition: KeyTransition,
  run: Run,
  { trigger, kmsState = null }: { trigger: Trigger; kmsState?: string | null },
): Promise<void> {
  const { times, id: runId } = run
  const { action } = transition
  const check = await checkResult(applyTransition(keySet.keys, transition, times, Date.now()))
  // The transition is applied again, because the check took time and the stored instants must be those of the
  // write.
  const result = applyTransition(keySet.keys, transition, times, Date.now())
  const evidence = describeTransition(keySet, result, { action, trigger, runId, times, check, kmsState })
  const { keys } = result
  const next = { ...keySet, keys, sequence: evidence.sequence, evidence_hash: evidence.hash }
  const archived = action === 'disable' ? result.old : undefined
  if (!(await tryWrite(keySet, next, { evidence, archived }))) return
  run.transitions.push(evidence)
  const { old_kid, new_kid } = evidence
  log.info('signing keys changed', { action: evidence.action, old_kid, new_kid, trigger: trigger.kind })
}

/**
 * Tests the key that joins or takes over, otherwise the signer. Only a key that joins or takes over must
 * pass.
 */
async function checkResult({ keys, next }: TransitionResult): Promise<KeyCheck | null> {
  const key = next ?? keyIn(keys, 'active')
  if (key === undefined) return null
  const { check, cause } = await checkKey(key)
  if (isSound(check)) return check
  if (next !== undefined)
    throw new Error(`the signing key ${key.kid} failed its check and was left as it is`, { cause })
  log.error('a signing key failed its check', { kid: key.kid, cause: errorSummary(cause) })
  return check
}

/** Writes the key set; if another run was faster, waits a moment so that the two do not collide again. */
export async function tryWrite(...write: Parameters<typeof writeKeySet>): Promise<boolean> {
  const written = await writeKeySet(...write)
  if (!written) await wait(Math.random() * maxPauseMilliseconds)
  return written
}

/** The trigger to record for a step: the run's call if it requested the step, the clock if it was due. */
export function triggerOf({ request, id, requestedBy }: Run, requested: boolean): Trigger {
  if (!requested) return { kind: 'clock', request_id: id, requested_by: null }
  const kind = request.action === 'rotate' && request.emergency ? 'emergency' : request.action
  return { kind, request_id: id, requested_by: requestedBy }
}
