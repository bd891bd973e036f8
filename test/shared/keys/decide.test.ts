import { expect, it } from 'vitest'
import { decideRotation, type RotationRequest } from '../../../shared/keys/decide.ts'
import { activeKey, toJwks } from '../../../shared/keys/set.ts'
import { commitSlackMilliseconds, type KeyTimes } from '../../../shared/keys/times.ts'
import { emptyWorld, patienceMilliseconds, settle, type World } from '../../support/signing-keys-model.ts'

const day = 86_400_000
const times: KeyTimes = {
  accessTokenTtlSeconds: 86_400,
  signingKeyRotationDays: 30,
  signingKeyPublishSeconds: 86_400,
  signingKeyRetireMarginSeconds: 7_200,
}
const clock: RotationRequest = { action: 'clock' }
const start = Date.UTC(2026, 0, 1)

const settled = (world: World, now: number, request: RotationRequest = clock, of = times): World =>
  settle({ ...world, now, times: of }, request).at(-1) ?? world

const states = ({ keySet }: World) => keySet.keys.map(({ state }) => state)
const kids = ({ keySet }: World) => toJwks(keySet.keys).keys.map(({ kid }) => kid)

const bootstrapped = () => settled(emptyWorld(times, start), start)

it('the successor key is published exactly one publish window before the end of the signing period', () => {
  const world = bootstrapped()
  expect(states(settled(world, start + 29 * day - 1))).toEqual(['active'])
  expect(states(settled(world, start + 29 * day))).toEqual(['active', 'published'])
})

it('a published key signs from the very end of its publish window', () => {
  const world = settled(bootstrapped(), start + 29 * day)
  expect(states(settled(world, start + 30 * day - 1))).toEqual(['active', 'published'])
  expect(states(settled(world, start + 30 * day))).toEqual(['retiring', 'active'])
})

it('a key is published for the whole publish window even if the scheduled run is late', () => {
  const late = start + 100 * day
  const world = settled(bootstrapped(), late)
  expect(states(world)).toEqual(['active', 'published'])
  expect(states(settled(world, late + day - 1))).toEqual(['active', 'published'])
})

it('a retiring key stays in the JWKS for signer cache time, token lifetime and margins', () => {
  const switched = settled(settled(bootstrapped(), start + 29 * day), start + 30 * day)
  const last = start + 30 * day + day + 60_000 + 7_200_000 + commitSlackMilliseconds
  expect(states(settled(switched, last - 1))).toEqual(['retiring', 'active'])
  expect(states(settled(switched, last))).toEqual(['active'])
})

it('a key stays in the JWKS until its last token expires, even if the token lifetime was cut', () => {
  const long = { ...times, accessTokenTtlSeconds: 7 * 86_400 }
  const before = settled(bootstrapped(), start + 1, clock, long)
  const switched = settled(settled(before, start + 29 * day), start + 30 * day)
  expect(switched.keySet.keys[0]?.remove_after).toBeGreaterThanOrEqual(start + 37 * day)
})

it('an emergency rotation activates the already published key, because verifiers know it', () => {
  const world = settled(bootstrapped(), start + 29 * day)
  const request: RotationRequest = { action: 'rotate', emergency: true, at: start + 29 * day + 1 }
  expect(states(settled(world, start + 29 * day + 1, request))).toEqual(['retiring', 'active'])
})

/** The next step of a new run in a state of the model. */
const nextStep = ({ keySet, times, now }: World, request: RotationRequest) =>
  decideRotation({ keySet, request, times, patienceMilliseconds, knowledge: {}, now })

const emergency = (at: number): RotationRequest => ({ action: 'rotate', emergency: true, at })

it('an emergency does not hurry a successor if a key has become active at the instant of its request', () => {
  const world = settled(bootstrapped(), start + 29 * day)
  expect(nextStep(world, emergency(start))).toEqual({ kind: 'done' })
  expect(nextStep(world, emergency(start + 1))).toMatchObject({ requested: true })
})

it('a requested rotation begins a key only if none has become active since the request', () => {
  const world = { ...bootstrapped(), now: start + 1 }
  const rotate = (at: number): RotationRequest => ({ action: 'rotate', emergency: false, at })
  expect(nextStep(world, rotate(start))).toEqual({ kind: 'done' })
  expect(nextStep(world, rotate(start + 1))).toEqual({ kind: 'beginAttempt', requested: true })
})

it('the first key of a deployment is due, whoever asks', () => {
  const first = { kind: 'beginAttempt', requested: false }
  for (const request of [clock, emergency(start)])
    expect(nextStep(emptyWorld(times, start), request)).toEqual(first)
})

it('without a signer, a published key signs at once: in an emergency if requested, else as due', () => {
  const world = settled(bootstrapped(), start + 29 * day)
  const keys = world.keySet.keys.filter(({ state }) => state === 'published')
  const orphaned = { ...world, keySet: { ...world.keySet, keys } }
  const activate = { kind: 'transition', transition: { action: 'activate' } }
  expect(nextStep(orphaned, emergency(start))).toEqual({ ...activate, requested: true })
  expect(nextStep(orphaned, clock)).toEqual({ ...activate, requested: false })
})

it('the key set always has an active key, even when the active key is revoked and replaced', () => {
  const world = bootstrapped()
  const request: RotationRequest = { action: 'revoke', kid: activeKey(world.keySet)?.kid ?? '' }
  for (const { keySet } of settle({ ...world, now: start + 5 }, request))
    expect(activeKey(keySet)).toBeDefined()
  const after = settled(world, start + 5, request)
  expect(states(after)).toEqual(['active'])
  expect(activeKey(after.keySet)?.kid).not.toBe(request.kid)
})

it.each(['published', 'retiring'])('a revoked %s key leaves the JWKS at once', (state) => {
  const world =
    state === 'published'
      ? settled(bootstrapped(), start + 29 * day)
      : settled(settled(bootstrapped(), start + 29 * day), start + 30 * day)
  const kid = world.keySet.keys.find((key) => key.state === state)?.kid ?? ''
  const now = start + 29 * day + 1
  const [, first] = settle({ ...world, now }, { action: 'revoke', kid })
  expect(kids(first ?? world)).not.toContain(kid)
})

it('the key set holds at most 101 keys when the signing period is far shorter than the token lifetime', () => {
  const fast = { ...times, signingKeyRotationDays: 0.0001, signingKeyPublishSeconds: 2 }
  let world = settled(emptyWorld(fast, start), start, clock, fast)
  for (let second = 0; second < 3_000; second += 5) {
    world = settled(world, start + second * 1000, clock, fast)
  }
  expect(world.keySet.keys.length).toBeLessThanOrEqual(101)
  expect(activeKey(world.keySet)).toBeDefined()
})
