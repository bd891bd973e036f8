import { expect, it } from 'vitest'
import type { RotationRequest, RotationStep, RunKnowledge } from '../../../../shared/keys/decide.ts'
import { activeKey, type Attempt, type SigningKey, toJwks } from '../../../../shared/keys/set.ts'
import {
  activationDue,
  drainMilliseconds,
  kmsLagMilliseconds,
  type KeyTimes,
  nextDue,
} from '../../../../shared/keys/times.ts'
import { act, emptyWorld, readAndDecide, type World } from '../../../support/signing-keys-model.ts'

const now = Date.UTC(2026, 0, 1)
const second = 1_000
const times: KeyTimes = {
  accessTokenTtlSeconds: 50,
  signingKeyRotationDays: 300 / 86_400,
  signingKeyPublishSeconds: 100,
  signingKeyRetireMarginSeconds: 10,
}

const unused = {
  n: 'n',
  e: 'AQAB',
  published_at: now - 1_000 * second,
  active_at: null,
  retiring_at: null,
  retired_at: null,
  remove_after: null,
  drain_ms: drainMilliseconds(times),
}
type Variant = Omit<SigningKey, 'kid' | 'arn'>
const active: Variant = { ...unused, state: 'active', active_at: now - 1 }
const retiring: Variant = {
  ...unused,
  state: 'retiring',
  active_at: now - 900 * second,
  retiring_at: now - 1,
}

/** Signing keys in every state, each just before and at the instant at which its state must change. */
const variants: Variant[] = [
  { ...unused, state: 'published', published_at: now - 100 * second + 1 },
  { ...unused, state: 'published', published_at: now - 100 * second },
  active,
  { ...active, active_at: now - 200 * second + 1 },
  { ...active, active_at: now - 200 * second },
  { ...active, drain_ms: 1 },
  { ...retiring, remove_after: now + 1 },
  { ...retiring, remove_after: now },
  { ...retiring, state: 'retired', retired_at: now - 1 },
]

const lists = (length: number): Variant[][] =>
  length === 0 ? [[]] : lists(length - 1).flatMap((list) => variants.map((variant) => [...list, variant]))

/** Every list of up to three keys of which at most one is active and at most one is published. */
const keyLists: SigningKey[][] = [0, 1, 2, 3]
  .flatMap(lists)
  .filter((keys) =>
    ['active', 'published'].every((state) => keys.filter((key) => key.state === state).length <= 1),
  )
  .map((keys) => keys.map((key, index) => ({ ...key, kid: `kid-${index}`, arn: `arn-${index}` })))

/**
 * Yields no attempt, and key creation attempts of every purpose, just begun, a minute ago or longer ago than
 * KMS can lag, with and without their key, with everything that a run may know of them.
 */
function* attempts(keys: SigningKey[]): Generator<{ attempt: Attempt | null; knowledge: RunKnowledge }> {
  yield { attempt: null, knowledge: {} }
  const retired = keys.filter(({ state }) => state === 'retired').map(({ kid }) => kid)
  if (retired.length > 0) yield { attempt: null, knowledge: { unconfirmed: retired } }
  // A new key is created only if no published key waits to sign.
  if (keys.some(({ state }) => state === 'published')) return
  const id = 'attempt-of-test'
  const trigger = { kind: 'clock', request_id: 'r', requested_by: null } as const
  const signer = keys.find(({ state }) => state === 'active')?.kid
  const purposes = [
    { purpose: 'publish', replaces: null },
    { purpose: 'activate', replaces: null },
    { purpose: 'replace', replaces: 'kid-gone' },
    ...(signer === undefined ? [] : [{ purpose: 'replace', replaces: signer } as const]),
  ] as const
  const created = { attempt: { id, state: 'created', arn: 'arn-created' } } as const
  const unusable = { attempt: { id, state: 'unusable' } } as const
  const unnamed: RunKnowledge[] = [
    {},
    { attempt: { id: 'attempt-of-another-time', state: 'begun' } },
    { attempt: { id, state: 'begun' } },
    created,
  ]
  const stored = [
    { arn: null, known: unnamed },
    { arn: 'arn-created', known: [{}, created, unusable] },
  ]
  for (const purpose of purposes)
    for (const started_at of [now, now - 60 * second, now - kmsLagMilliseconds])
      for (const { arn, known } of stored)
        for (const knowledge of known)
          yield {
            attempt: { id, started_at, trigger, ...purpose, arn },
            knowledge,
          }
}

const requests = (keys: SigningKey[]): RotationRequest[] => [
  { action: 'clock' },
  ...[now - 500 * second, now].flatMap((at) =>
    [false, true].map((emergency): RotationRequest => ({ action: 'rotate', emergency, at })),
  ),
  ...[...keys.map(({ kid }) => kid), 'kid-archived'].map((kid) => ({ action: 'revoke', kid }) as const),
]

interface Case {
  before: World
  request: RotationRequest
  knowledge: RunKnowledge
}

function* cases(): Generator<Case> {
  for (const keys of keyLists)
    for (const { attempt, knowledge } of attempts(keys))
      for (const request of requests(keys)) {
        const world = emptyWorld(times, now)
        const keySet = { ...world.keySet, version: 1, sequence: keys.length, keys, attempt }
        yield { before: { ...world, keySet }, request, knowledge }
      }
}

const count = ({ keySet }: World, state: string) => keySet.keys.filter((key) => key.state === state).length
const kids = ({ keySet }: World) => toJwks(keySet.keys).keys.map(({ kid }) => kid)

/** Whether a rotation request is fulfilled, so that nothing is left to do for it. */
function isFulfilled(request: RotationRequest, { keySet }: World): boolean {
  if (request.action === 'revoke')
    return !keySet.keys.some(({ kid, state }) => kid === request.kid && state !== 'retired')
  const since = activeKey(keySet)?.active_at ?? 0
  if (request.action === 'clock' || since >= request.at) return true
  return !request.emergency && keySet.keys.some(({ state }) => state === 'published')
}

/** Whether the attempt will fulfil the request in a later run, so that this run may leave it. */
function isCarried(request: RotationRequest, { keySet: { attempt } }: World): boolean {
  if (attempt === null) return false
  if (request.action === 'revoke') return attempt.replaces === request.kid
  return request.action === 'rotate' && (!request.emergency || attempt.purpose !== 'publish')
}

/** Yields what is wrong with a rotation step and the world that it leads to. */
function* faults({ before, request, knowledge }: Case, step: RotationStep, after: World): Generator<string> {
  const signer = activeKey(before.keySet)
  if (count(after, 'active') > 1) yield 'two keys are active'
  if (count(after, 'published') > 1) yield 'two keys are published'
  if (signer !== undefined && count(after, 'active') === 0) yield 'no key is active any more'

  for (const key of before.keySet.keys) {
    const revoked = request.action === 'revoke' && request.kid === key.kid
    const drained = key.state === 'retiring' && (key.remove_after ?? Infinity) <= now
    // The attempt may belong to another call, and revoke the key that the other call asked to revoke.
    const replaced = step.kind === 'addKey' && step.attempt.replaces === key.kid
    const published = key.state !== 'retired'
    if (published && !kids(after).includes(key.kid) && !revoked && !drained && !replaced)
      yield `${key.kid} left the JWKS while its tokens may be valid`
  }

  const replacement = activeKey(after.keySet)
  if (signer !== undefined && replacement?.kid !== signer.kid) {
    const old = after.keySet.keys.find(({ kid }) => kid === signer.kid)
    const until = now + drainMilliseconds(times) + times.signingKeyRetireMarginSeconds * second
    if (old?.state === 'retiring' && (old.remove_after ?? 0) < until) yield 'the signer retires too early'
    const chosen = before.keySet.keys.find(({ kid }) => kid === replacement?.kid)
    const early = chosen !== undefined && activationDue(chosen, times) > now
    if (request.action === 'clock' && early) yield 'a key signs before its publish window is over'
  }

  // What waits for KMS stays due.
  const waits = before.keySet.attempt !== null || knowledge.unconfirmed !== undefined
  const idle = ['done', 'leaveToNextRun'].includes(step.kind) && !waits
  if (
    request.action === 'clock' &&
    step.kind !== 'raiseDrain' &&
    idle !== nextDue(before.keySet, times) > now
  )
    yield 'the next due instant does not agree with the decision'
  if (step.kind === 'done' && !isFulfilled(request, before)) yield 'the request was given up'
  if (step.kind === 'leaveToNextRun' && !isFulfilled(request, before) && !isCarried(request, before))
    yield 'the request was forgotten'
  if (step.kind === 'done' && waits) yield 'the run hides that KMS lags'

  const { attempt } = before.keySet
  const young = attempt !== null && now - attempt.started_at < kmsLagMilliseconds
  if (step.kind === 'restartAttempt' && knowledge.attempt?.state === 'unusable') {
    if (young) yield 'another key is made while KMS may lag'
    if (request.action !== 'rotate') yield 'keys are made while KMS refuses all'
  }
  if (step.kind === 'createKey' && step.attempt.arn !== null) yield 'a second key is made for an attempt'
}

it(
  'a rotation step from any state of up to three keys keeps one signer, every needed key and every request',
  { timeout: 120_000 },
  () => {
    const found = new Set<string>()
    const kinds = new Set<string>()
    for (const given of cases()) {
      const run = readAndDecide(given.before, given)
      const step = run.pending?.step ?? expect.unreachable()
      for (const fault of faults(given, step, act(given.before, run).world))
        if (found.size < 10) found.add(`${fault}: ${JSON.stringify({ step, ...given })}`)
      kinds.add(step.kind)
    }
    expect([...found]).toEqual([])
    // The cases together must have led to every kind of step.
    expect([...kinds].sort()).toEqual([
      'addKey',
      'beginAttempt',
      'changePurpose',
      'createKey',
      'disableKey',
      'done',
      'leaveToNextRun',
      'nameKey',
      'raiseDrain',
      'restartAttempt',
      'transition',
      'wait',
    ])
  },
)
