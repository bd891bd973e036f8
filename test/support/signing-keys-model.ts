import {
  decideRotation,
  type RotationRequest,
  type RotationStep,
  type RunKnowledge,
} from '../../shared/keys/decide-rotation.ts'
import { type Attempt, emptyKeySet, type SigningKeySet } from '../../shared/keys/key-set.ts'
import { drainMilliseconds, type KeyTimes } from '../../shared/keys/key-times.ts'
import { applyTransition, type KeyTransition, transitionFor } from '../../shared/keys/key-transitions.ts'

/**
 * A model world of the key rotation without AWS: the stored key set, the keys in KMS and the clock. Worlds
 * are immutable.
 */
export interface World {
  now: number
  times: KeyTimes
  keySet: SigningKeySet
  /** Keys that are enabled in KMS, by ARN, each with the id of the attempt that created it. */
  enabled: ReadonlyMap<string, string>
  /** Until when a token signed by each key may be valid, by kid. Revoked keys are not in it. */
  tokensUntil: ReadonlyMap<string, number>
  /** Number of attempts and keys that have been named so far, from which the next name is made. */
  names: number
}

/**
 * A run of the rotation in the model. `pending` is the step that the run has decided on and not taken yet.
 */
export interface ModelRun {
  request: RotationRequest
  knowledge: RunKnowledge
  pending?: { keySet: SigningKeySet; step: RotationStep }
}

export const patienceMilliseconds = 3_000

/** A model world without any signing key. */
export const emptyWorld = (times: KeyTimes, now: number): World => ({
  now,
  times,
  keySet: emptyKeySet,
  enabled: new Map(),
  tokensUntil: new Map(),
  names: 0,
})

/** Lets time pass in the model; the signer signs tokens until the last moment. */
export const passTime = (world: World, milliseconds: number): World =>
  sign({ ...world, now: world.now + milliseconds })

/** The first half of a rotation step: reads the key set and decides. */
export const readAndDecide = ({ keySet, times, now }: World, { request, knowledge }: ModelRun): ModelRun => ({
  request,
  knowledge,
  pending: {
    keySet,
    step: decideRotation({ keySet, request, times, patienceMilliseconds, knowledge, now }),
  },
})

/** The second half of a rotation step: performs it on the model, as `rotate.ts` does with AWS. */
export function act(world: World, run: ModelRun): { world: World; run: ModelRun } {
  const { request, knowledge } = run
  const { keySet, step } = run.pending ?? { keySet: world.keySet, step: { kind: 'done' as const } }
  const learn = (attempt: RunKnowledge['attempt'] & object): ModelRun => ({
    request,
    knowledge: { ...knowledge, attempt },
  })
  const plain = { request, knowledge }
  const begin = (base: World, next: SigningKeySet, attempt: Omit<Attempt, 'id' | 'started_at'>) => {
    const id = `attempt-${base.names}`
    const stored = { ...next, attempt: { ...attempt, id, started_at: base.now } }
    const written = write({ ...base, names: base.names + 1 }, keySet, stored)
    return { world: written, run: written.keySet === base.keySet ? plain : learn({ id, state: 'begun' }) }
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
    case 'beginAttempt': {
      const { purpose, replaces } = step
      const trigger = { kind: 'clock', request_id: 'r', requested_by: null } as const
      return begin(world, keySet, { purpose, replaces, trigger })
    }
    case 'restartAttempt': {
      const { id, started_at } = step.attempt
      const orphaned_attempts = [...keySet.orphaned_attempts, { id, started_at }]
      return begin(world, { ...keySet, orphaned_attempts }, step.attempt)
    }
    case 'createKey': {
      const arn = `arn-${world.names}`
      const enabled = new Map([...world.enabled, [arn, step.attempt.id]])
      const { id } = step.attempt
      return {
        world: { ...world, enabled, names: world.names + 1 },
        run: learn({ id, state: 'created', arn }),
      }
    }
    case 'findKey': {
      const { id } = step.attempt
      const arn = [...world.enabled].find(([, attempt]) => attempt === id)?.[0]
      return {
        world,
        run: learn(arn === undefined ? { id, state: 'not_found' } : { id, state: 'created', arn }),
      }
    }
    case 'addKey': {
      const created = { kid: `kid of ${step.arn}`, arn: step.arn, n: 'n', e: 'AQAB' }
      const transition = transitionFor(step.attempt, keySet.keys, created)
      return { world: transit(world, keySet, { ...keySet, attempt: null }, transition), run: plain }
    }
    case 'disableKey': {
      const disabled = disable(world, (arn) => arn === step.key.arn)
      const transition = { action: 'disable', kid: step.key.kid } as const
      return { world: transit(disabled, keySet, keySet, transition), run: plain }
    }
    case 'sweepOrphans': {
      const swept = disable(world, (_, attempt) => step.attemptIds.includes(attempt))
      return {
        world: write(swept, keySet, { ...keySet, orphaned_attempts: step.remaining }),
        run: { request, knowledge: { ...knowledge, swept: true } },
      }
    }
    case 'wait':
    case 'done':
      return { world, run: plain }
  }
}

/**
 * Takes the steps of a rotation run, without other runs at the same time, until it is done; returns every
 * world on the way.
 */
export function settle(world: World, request: RotationRequest = { action: 'clock' }): World[] {
  const worlds = [world]
  let run: ModelRun = { request, knowledge: {} }
  for (let steps = 0; steps < 400; steps += 1) {
    const decided = readAndDecide(world, run)
    if (decided.pending?.step.kind === 'done') return worlds
    ;({ world, run } = act(world, decided))
    if (decided.pending?.step.kind === 'wait') world = passTime(world, 100)
    worlds.push(world)
  }
  throw new Error('the run does not settle')
}

/** A conditional write to the model: nothing happens if the stored key set is not the one that was read. */
function write(world: World, read: SigningKeySet, next: SigningKeySet): World {
  if (world.keySet.version !== read.version) return world
  return sign({ ...world, keySet: { ...next, version: read.version + 1 } })
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

/**
 * Signs tokens in the model: by the active key now, and by a signer that has just read the key set and uses
 * its cached copy as long as it may.
 */
function sign(world: World): World {
  const signer = world.keySet.keys.find(({ state }) => state === 'active')
  if (signer === undefined) return world
  const until = world.now + drainMilliseconds(world.times)
  return { ...world, tokensUntil: new Map([...world.tokensUntil, [signer.kid, until]]) }
}

const disable = (world: World, which: (arn: string, attempt: string) => boolean): World => ({
  ...world,
  enabled: new Map([...world.enabled].filter(([arn, attempt]) => !which(arn, attempt))),
})
