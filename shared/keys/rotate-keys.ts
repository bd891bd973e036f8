import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isArchived } from './archive.ts'
import { disposeKey } from './dispose-key.ts'
import type { Evidence } from './evidence.ts'
import { finishAttempt } from './finish-attempt.ts'
import { nextDue } from './next-due.ts'
import { nextStep, type RotationRequest, type Step } from './next-step.ts'
import { activeKey, keyIn, readKeySet, type SigningKeySet } from './key-set.ts'
import { type Run, triggerOf } from './run.ts'
import { sweepOrphanedKeys, unusedDeletionDays } from './sweep-strays.ts'
import { settings } from '../settings.ts'
import { writeTransition } from './write-change.ts'
import { writeKeySet } from './write-ring.ts'

/** What a run did. */
export interface RotationResult {
  /** kid of the key that signs now. */
  signer: string | null
  transitions: Pick<Evidence, 'sequence' | 'action' | 'old_kid' | 'new_kid'>[]
  /** When the clock has something to do next, epoch milliseconds. */
  next_due: number
}

/** Steps, waits and lost races included, after which a run gives up; the next one goes on. */
const mostSteps = 400

/** Long enough for KMS to make a key, short beside a schedule's minute. */
const defaultPatienceMilliseconds = 3_000

/**
 * Brings the key ring to where the clock and the request want it, one conditional write after the other. Each step is found from the ring as it is
 * then, so that it does not matter how many runs are at it or where one died.
 */
export async function rotateKeys(
  request: RotationRequest,
  by: { runId: string; requestedBy?: string | null },
  patienceMilliseconds = defaultPatienceMilliseconds,
): Promise<RotationResult> {
  const run: Run = {
    request,
    id: by.runId,
    requestedBy: by.requestedBy ?? null,
    times: settings(),
    patienceMilliseconds,
    begun: undefined,
    inHand: undefined,
    transitions: [],
  }
  if (request.action === 'revoke') await mustBeKnown(request.kid)
  for (let taken = 0; taken < mostSteps; taken += 1) {
    const ring = await readKeySet()
    await dropUnwanted(ring, run)
    const step = nextStep(ring, request, run.times, Date.now())
    if (step.kind === 'none') {
      await sweepOrphanedKeys(ring)
      return summarize(ring, run)
    }
    await take(ring, step, run)
  }
  throw new Error('the key ring did not settle')
}

async function mustBeKnown(kid: string): Promise<void> {
  const { keys } = await readKeySet()
  if (keys.some((key) => key.kid === kid) || (await isArchived(kid))) return
  throw new Error('there is no signing key of this kid')
}

/** A key that this run has made while its attempt was given up by another is of no use: only one run's key gets in. */
async function dropUnwanted(ring: SigningKeySet, run: Run): Promise<void> {
  const { inHand } = run
  if (inHand === undefined || ring.attempt?.id === inHand.attemptId) return
  if (!ring.keys.some(({ arn }) => arn === inHand.arn)) await disposeKey(inHand.arn, unusedDeletionDays)
  run.inHand = undefined
}

async function take(ring: SigningKeySet, step: Exclude<Step, { kind: 'none' }>, run: Run): Promise<void> {
  switch (step.kind) {
    case 'change': {
      const trigger = triggerOf(run, step.requested)
      const evidence = await writeTransition(ring, step.change, { trigger, runId: run.id, times: run.times })
      return evidence === undefined ? pause() : void run.transitions.push(evidence)
    }
    case 'finish':
      return finishAttempt(ring, step.attempt, run)
    case 'make':
      return begin(ring, step, run)
    case 'remember':
      return remember(ring, step.afterlifeMilliseconds)
    case 'dispose': {
      const kmsState = await disposeKey(step.key.arn, settings().signingKeyDeletionDays)
      const evidence = await writeTransition(
        ring,
        { action: 'disable', kid: step.key.kid },
        { trigger: triggerOf(run, false), runId: run.id, times: run.times, kmsState },
      )
      return evidence === undefined ? pause() : void run.transitions.push(evidence)
    }
  }
}

/** Says in the ring that a key is being made, before KMS is asked for it. */
async function begin(ring: SigningKeySet, step: Extract<Step, { kind: 'make' }>, run: Run): Promise<void> {
  const id = randomUUID()
  const { purpose, replaces } = step
  const attempt = { id, started_at: Date.now(), purpose, replaces, trigger: triggerOf(run, step.requested) }
  if (await writeKeySet(ring, { ...ring, attempt }, [])) run.begun = id
  else await pause()
}

async function remember(ring: SigningKeySet, milliseconds: number): Promise<void> {
  const active = keyIn(ring.keys, 'active')
  const keys = ring.keys.map((key) =>
    key === active ? { ...key, afterlife_milliseconds: milliseconds } : key,
  )
  if (!(await writeKeySet(ring, { ...ring, keys }, []))) await pause()
}

/** Runs that collided should not collide again. */
const pause = (): Promise<void> => wait(Math.random() * 50)

const summarize = (ring: SigningKeySet, run: Run): RotationResult => ({
  signer: activeKey(ring)?.kid ?? null,
  transitions: run.transitions.map(({ sequence, action, old_kid, new_kid }) => ({
    sequence,
    action,
    old_kid,
    new_kid,
  })),
  next_due: nextDue(ring, run.times),
})
