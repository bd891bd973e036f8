import {
  decideRotation,
  type RotationRequest,
  type RotationStep,
  type RunKnowledge,
} from '../../shared/keys/decide.ts'
import { type Attempt, emptyKeySet, type SigningKeySet } from '../../shared/keys/set.ts'
import { drainMilliseconds, type KeyTimes } from '../../shared/keys/times.ts'
import { applyTransition, type KeyTransition, transitionFor } from '../../shared/keys/transition.ts'

/** An immutable model of the key rotation without AWS: the stored key set, the keys in KMS and the clock. */
export interface World {
  now: number
  times: KeyTimes
  keySet: SigningKeySet
  /** Milliseconds until KMS allows the use of a new key, and until KMS shows that a key is disabled. */
  lag: number
  /** Every key in KMS, by ARN. */
  kms: ReadonlyMap<string, ModelKey>
  /** The latest time at which a token of a key can be valid, by `kid`. Revoked keys are left out. */
  tokensUntil: ReadonlyMap<string, number>
  /** The ARNs of all keys that the key set has ever held. */
  recorded: ReadonlySet<string>
  /** Number to put into the name of the next attempt or key. */
  names: number
}

/** A key in KMS; times are in epoch milliseconds. */
interface ModelKey {
  createdAt: number
  disabledAt: number | null
}

/** A simulated run of the key rotation. `pending` is a step that the run has chosen, but not taken yet. */
export interface ModelRun {
  request: RotationRequest
  knowledge: RunKnowledge
  pending?: { keySet: SigningKeySet; step: RotationStep }
}

export const patienceMilliseconds = 3_000

/** The first state of the model of the key rotation: there is no signing key yet. */
export const emptyWorld = (times: KeyTimes, now: number, lag = 0): World => ({
  now,
  times,
  keySet: emptyKeySet,
  lag,
  kms: new Map(),
  tokensUntil: new Map(),
  recorded: new Set(),
  names: 0,
})

/** Lets time pass in the model of the key rotation. The active key keeps signing tokens. */
export const passTime = (world: World, milliseconds: number): World =>
  sign({ ...world, now: world.now + milliseconds })

/** The ARNs of the model's keys that have not been disabled. */
export const enabledKeys = ({ kms }: World): string[] =>
  [...kms].filter(([, { disabledAt }]) => disabledAt === null).map(([arn]) => arn)

/** The first half of a rotation step: reads the key set and decides what to change. */
export const readAndDecide = ({ keySet, times, now }: World, { request, knowledge }: ModelRun): ModelRun => ({
  request,
  knowledge,
  pending: {
    keySet,
    step: decideRotation({ keySet, request, times, patienceMilliseconds, knowledge, now }),
  },
})

/** The second half of a rotation step. Does to the model what shared/keys/steps.ts does to AWS. */
export function act(world: World, run: ModelRun): { world: World; run: ModelRun } {
  const { request, knowledge } = run
  const { keySet, step } = run.pending ?? { keySet: world.keySet, step: { kind: 'done' as const } }
  const learn = (attempt: RunKnowledge['attempt'] & object): ModelRun => ({
    request,
    knowledge: { ...knowledge, attempt },
  })
  const plain = { request, knowledge }
  const begin = ({ trigger, replaces }: Pick<Attempt, 'trigger' | 'replaces'>) => {
    const id = `attempt-${world.names}`
    const attempt = { id, started_at: world.now, arn: null, trigger, replaces }
    const written = write({ ...world, names: world.names + 1 }, keySet, { ...keySet, attempt })
    return { world: written, run: written.keySet === world.keySet ? plain : learn({ id, state: 'begun' }) }
  }
  switch (step.kind) {
    case 'transition':
      return { world: transit(world, keySet, keySet, step.transition), run: plain }
    case 'raiseDrain': {
      const keys = keySet.keys.map((key) =>
        key.state === 'active' ? { ...key, drain_ms: step.drainMilliseconds } : key,
      )
      return { world: write(world, keySet, { ...keySet, keys }), run: plain }
    }
    case 'beginAttempt':
      return begin(causeOf(request, step.requested))
    case 'restartAttempt':
      return begin(step.attempt)
    case 'takeOver': {
      const next = { ...keySet, attempt: { ...step.attempt, ...causeOf(request, true) } }
      return { world: write(world, keySet, next), run: plain }
    }
    case 'createKey': {
      const arn = `arn-${world.names}`
      const { id } = step.attempt
      const kms = new Map([...world.kms, [arn, { createdAt: world.now, disabledAt: null }]])
      return { world: { ...world, kms, names: world.names + 1 }, run: learn({ id, state: 'created', arn }) }
    }
    case 'nameKey': {
      const { attempt, arn } = step
      return { world: write(world, keySet, { ...keySet, attempt: { ...attempt, arn } }), run: plain }
    }
    case 'addKey': {
      if (!isUsable(world, step.arn)) return { world, run: learn({ id: step.attempt.id, state: 'unusable' }) }
      const created = { kid: `kid of ${step.arn}`, arn: step.arn, n: 'n', e: 'AQAB' }
      const transition = transitionFor(step.attempt, keySet.keys, created)
      return { world: transit(world, keySet, { ...keySet, attempt: null }, transition), run: plain }
    }
    case 'disableKey': {
      const { kid, arn } = step.key
      const disabled = disable(world, arn)
      const unconfirmed = [...(knowledge.unconfirmed ?? []), kid]
      if (!showsDisabled(disabled, arn))
        return { world: disabled, run: { request, knowledge: { ...knowledge, unconfirmed } } }
      return { world: transit(disabled, keySet, keySet, { action: 'disable', kid }), run: plain }
    }
    case 'wait':
    case 'leaveToNextRun':
    case 'done':
      return { world, run: plain }
  }
}

function causeOf(request: RotationRequest, requested: boolean): Pick<Attempt, 'trigger' | 'replaces'> {
  const asked = request.action === 'rotate' && request.emergency ? 'emergency' : request.action
  return {
    trigger: { kind: requested ? asked : 'clock', request_id: 'r', requested_by: null },
    replaces: requested && request.action === 'revoke' ? request.kid : null,
  }
}

/** Whether a rotation run has decided to end. */
export const isOver = ({ pending }: ModelRun): boolean =>
  pending?.step.kind === 'done' || pending?.step.kind === 'leaveToNextRun'

/**
 * Takes all steps of a rotation run, with no other run at the same time. Returns the state of the model
 * before the first step and after each step.
 */
export function settle(world: World, request: RotationRequest = { action: 'clock' }): World[] {
  const worlds = [world]
  let run: ModelRun = { request, knowledge: {} }
  for (let steps = 0; steps < 400; steps += 1) {
    const decided = readAndDecide(world, run)
    if (isOver(decided)) return worlds
    ;({ world, run } = act(world, decided))
    if (decided.pending?.step.kind === 'wait') world = passTime(world, 100)
    worlds.push(world)
  }
  throw new Error('the run does not settle')
}

/** Replaces the key set of `world` by `next`, unless the key set has changed since it was `read`. */
function write(world: World, read: SigningKeySet, next: SigningKeySet): World {
  if (world.keySet.version !== read.version) return world
  const recorded = new Set([...world.recorded, ...next.keys.map(({ arn }) => arn)])
  return sign({ ...world, recorded, keySet: { ...next, version: read.version + 1 } })
}

function transit(world: World, read: SigningKeySet, base: SigningKeySet, transition: KeyTransition): World {
  const { keys } = applyTransition(base.keys, transition, world.times, world.now)
  const written = write(world, read, { ...base, keys, sequence: base.sequence + 1 })
  if (written === world || transition.action !== 'revoke') return written
  return {
    ...written,
    tokensUntil: new Map([...written.tokensUntil].filter(([kid]) => kid !== transition.kid)),
  }
}

/** Lets the active key sign, and records the latest time at which one of its tokens can still be valid. */
function sign(world: World): World {
  const signer = world.keySet.keys.find(({ state }) => state === 'active')
  if (signer === undefined) return world
  const until = world.now + drainMilliseconds(world.times)
  return { ...world, tokensUntil: new Map([...world.tokensUntil, [signer.kid, until]]) }
}

const isUsable = ({ kms, now, lag }: World, arn: string): boolean => {
  const key = kms.get(arn)
  return key !== undefined && key.createdAt + lag <= now
}

/** Disables a key, unless KMS refuses because the key is too new. */
function disable(world: World, arn: string): World {
  const key = world.kms.get(arn)
  if (key === undefined || key.disabledAt !== null || !isUsable(world, arn)) return world
  return { ...world, kms: new Map([...world.kms, [arn, { ...key, disabledAt: world.now }]]) }
}

/** Whether KMS shows a key as disabled. True for a key that is unknown to KMS. */
const showsDisabled = ({ kms, now, lag }: World, arn: string): boolean => {
  const key = kms.get(arn)
  return key === undefined || (key.disabledAt !== null && key.disabledAt + lag <= now)
}
