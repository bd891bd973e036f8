import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { log } from '../log.ts'
import { settings } from '../settings.ts'
import {
  decideRotation,
  type RotationRequest,
  type RotationStep,
  type RunKnowledge,
} from './decide-rotation.ts'
import { describeTransition, type Evidence, isSound, type KeyCheck } from './evidence.ts'
import { activeKey, type Attempt, keyIn, type SigningKeySet, type Trigger, readKeySet } from './key-set.ts'
import { isArchived, writeKeySet } from './key-set-store.ts'
import { type KeyTimes, nextDue } from './key-times.ts'
import {
  applyTransition,
  type KeyTransition,
  transitionFor,
  type TransitionResult,
} from './key-transitions.ts'
import { checkKey, createSigningKey, disableKey, findKeys, readPublicKey } from './kms-keys.ts'

/** Result of a rotation run. */
export interface RotationResult {
  /** kid of the key that signs after the run. */
  signer: string | null
  transitions: Pick<Evidence, 'sequence' | 'action' | 'old_kid' | 'new_kid'>[]
  /** When the next step of the rotation is due, epoch milliseconds. */
  next_due: number
}

/**
 * Maximum number of steps of a rotation run, waits and lost races included. A run that exceeds it fails, and
 * the next one continues.
 */
const maxSteps = 400

/**
 * How long to wait for another run's attempt: long enough for KMS to create a key, and short compared to the
 * schedule's minute.
 */
const defaultPatienceMilliseconds = 3_000

/** Polling interval while another run's attempt may still finish. */
const pollMilliseconds = 100

/** Maximum random wait after a run lost a race against another one. */
const maxPauseMilliseconds = 50

/** Days until KMS deletes a key that was never published and never signed a token; KMS allows no fewer. */
const unusedDeletionDays = 7

/** The state of one rotation run. */
interface Run {
  request: RotationRequest
  /** Lambda request id of the invocation. */
  id: string
  requestedBy: string | null
  times: KeyTimes
  knowledge: RunKnowledge
  transitions: Evidence[]
}

/**
 * Runs the rotation: reads the key set, decides the next step, takes it, and repeats until nothing is left to
 * do. Every write is conditional on the key set that the step was decided from, so any number of runs may run
 * or crash at the same time. Throws if a key that is about to be used fails its check.
 */
export async function rotateKeys(
  request: RotationRequest,
  { runId, requestedBy = null }: { runId: string; requestedBy?: string | null },
  patienceMilliseconds = defaultPatienceMilliseconds,
): Promise<RotationResult> {
  const times = settings()
  const run: Run = { request, id: runId, requestedBy, times, knowledge: {}, transitions: [] }
  if (request.action === 'revoke') await requireKnownKey(request.kid)
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const keySet = await readKeySet()
    const { knowledge } = run
    const state = { keySet, request, times, patienceMilliseconds, knowledge, now: Date.now() }
    const step = decideRotation(state)
    if (step.kind === 'done') return summarize(keySet, run)
    await take(step, keySet, run)
  }
  throw new Error('the signing key set did not settle')
}

async function requireKnownKey(kid: string): Promise<void> {
  const { keys } = await readKeySet()
  if (keys.some((key) => key.kid === kid) || (await isArchived(kid))) return
  throw new Error('there is no signing key of this kid')
}

async function take(
  step: Exclude<RotationStep, { kind: 'done' }>,
  keySet: SigningKeySet,
  run: Run,
): Promise<void> {
  switch (step.kind) {
    case 'transition':
      return makeTransition(keySet, step.transition, run, { trigger: triggerOf(run, step.requested) })
    case 'raiseDrain':
      return raiseDrain(keySet, step.drainMilliseconds)
    case 'beginAttempt':
      return beginAttempt(keySet, step, run)
    case 'createKey':
      return learnKey(run, step.attempt, await createSigningKey(step.attempt.id))
    case 'wait':
      return wait(pollMilliseconds)
    case 'findKey':
      return learnKey(run, step.attempt, (await findKeys([step.attempt.id])).at(0))
    case 'restartAttempt':
      return restartAttempt(keySet, step.attempt, run)
    case 'addKey':
      return addKey(keySet, step, run)
    case 'disableKey': {
      const kmsState = await disableKey(step.key.arn, settings().signingKeyDeletionDays)
      const transition = { action: 'disable', kid: step.key.kid } as const
      return makeTransition(keySet, transition, run, { trigger: triggerOf(run, false), kmsState })
    }
    case 'sweepOrphans':
      return sweepOrphans(keySet, step, run)
  }
}

type StepOf<Kind extends RotationStep['kind']> = Extract<RotationStep, { kind: Kind }>

/**
 * Tests the keys, then writes the key set and the evidence. Writes nothing if another run was faster. Throws
 * if the key that is to be published or to sign fails its test.
 */
async function makeTransition(
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
  const check = key === undefined ? null : await checkKey(key)
  if (next !== undefined && (check === null || !isSound(check))) {
    throw new Error(`the signing key ${next.kid} failed its check and was left as it is`)
  }
  return check
}

async function raiseDrain(keySet: SigningKeySet, drain_ms: number): Promise<void> {
  const keys = keySet.keys.map((key) => (key.state === 'active' ? { ...key, drain_ms } : key))
  await tryWrite(keySet, { ...keySet, keys })
}

/** Stores the attempt before the key is created in KMS, so that a crash in between leaves a trace. */
async function beginAttempt(keySet: SigningKeySet, step: StepOf<'beginAttempt'>, run: Run): Promise<void> {
  const { purpose, replaces, requested } = step
  const trigger = triggerOf(run, requested)
  await storeAttempt(keySet, { id: randomUUID(), started_at: Date.now(), purpose, replaces, trigger }, run)
}

/** KMS may list the key of the old attempt late, so that attempt stays on record as orphaned. */
async function restartAttempt(keySet: SigningKeySet, attempt: Attempt, run: Run): Promise<void> {
  const { id, started_at } = attempt
  const orphaned_attempts = [...keySet.orphaned_attempts, { id, started_at }]
  const next = { ...attempt, id: randomUUID(), started_at: Date.now() }
  await storeAttempt({ ...keySet, orphaned_attempts }, next, run)
}

async function storeAttempt(keySet: SigningKeySet, attempt: Attempt, run: Run): Promise<void> {
  if (await tryWrite(keySet, { ...keySet, attempt }))
    run.knowledge.attempt = { id: attempt.id, state: 'begun' }
}

function learnKey(run: Run, { id }: Attempt, arn: string | undefined): void {
  run.knowledge.attempt = arn === undefined ? { id, state: 'not_found' } : { id, state: 'created', arn }
}

async function addKey(keySet: SigningKeySet, { attempt, arn }: StepOf<'addKey'>, run: Run): Promise<void> {
  const transition = transitionFor(attempt, keySet.keys, await readPublicKey(arn))
  await makeTransition({ ...keySet, attempt: null }, transition, run, { trigger: attempt.trigger })
}

/** Disables the keys of orphaned attempts: only the current attempt's key can join the key set. */
async function sweepOrphans(
  keySet: SigningKeySet,
  { attemptIds, remaining }: StepOf<'sweepOrphans'>,
  run: Run,
): Promise<void> {
  for (const arn of await findKeys(attemptIds)) await disableKey(arn, unusedDeletionDays)
  run.knowledge.swept = true
  if (remaining.length < attemptIds.length)
    await tryWrite(keySet, { ...keySet, orphaned_attempts: remaining })
}

/** Writes the key set; if another run was faster, waits a moment so that the two do not collide again. */
async function tryWrite(...write: Parameters<typeof writeKeySet>): Promise<boolean> {
  const written = await writeKeySet(...write)
  if (!written) await wait(Math.random() * maxPauseMilliseconds)
  return written
}

/** The trigger to record for a step: the run's call if it requested the step, the clock if it was due. */
function triggerOf({ request, id, requestedBy }: Run, requested: boolean): Trigger {
  if (!requested) return { kind: 'clock', request_id: id, requested_by: null }
  const kind = request.action === 'rotate' && request.emergency ? 'emergency' : request.action
  return { kind, request_id: id, requested_by: requestedBy }
}

const summarize = (keySet: SigningKeySet, { transitions, times }: Run): RotationResult => ({
  signer: activeKey(keySet)?.kid ?? null,
  transitions: transitions.map(({ sequence, action, old_kid, new_kid }) => ({
    sequence,
    action,
    old_kid,
    new_kid,
  })),
  next_due: nextDue(keySet, times),
})
