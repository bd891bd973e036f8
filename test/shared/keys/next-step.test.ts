import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  drainMilliseconds,
  applyTransition,
  type KeyTransition,
  commitSlackMilliseconds,
  type KeyTimes,
} from '../../../shared/keys/apply-change.ts'
import { toJwks } from '../../../shared/keys/jwks.ts'
import { nextStep, type RotationRequest, type Step } from '../../../shared/keys/next-step.ts'
import { activeKey, emptyKeySet, type SigningKeySet } from '../../../shared/keys/key-set.ts'

const day = 86_400_000
const times: KeyTimes = {
  accessTokenTtlSeconds: 86_400,
  signingKeyRotationDays: 30,
  signingKeyPublishSeconds: 86_400,
  signingKeyRetireMarginSeconds: 7_200,
}
const clock: RotationRequest = { action: 'clock' }
const trigger = { kind: 'clock', request_id: 'r', requested_by: null } as const
const start = Date.UTC(2026, 0, 1)

let made = 0
const newKey = () => {
  made += 1
  return { kid: `kid-${made}`, arn: `arn-${made}`, n: `n-${made}`, e: 'AQAB' }
}

/** Takes a step as a run would, with KMS answering at once. */
function take(
  ring: SigningKeySet,
  step: Exclude<Step, { kind: 'none' }>,
  now: number,
  of = times,
): SigningKeySet {
  const version = ring.version + 1
  const change = (wanted: KeyTransition, attempt = ring.attempt): SigningKeySet => ({
    ...ring,
    version,
    attempt,
    keys: applyTransition(ring.keys, wanted, of, now).keys,
  })
  switch (step.kind) {
    case 'change':
      return change(step.change)
    case 'make': {
      const { purpose, replaces } = step
      return { ...ring, version, attempt: { id: 'a', started_at: now, purpose, replaces, trigger } }
    }
    case 'finish': {
      const key = newKey()
      const { purpose, replaces } = step.attempt
      if (purpose === 'replace' && replaces !== null) {
        return change({ action: 'revoke', kid: replaces, successor: key.kid, made: key }, null)
      }
      return purpose === 'publish'
        ? change({ action: 'publish', made: key }, null)
        : change({ action: 'activate', kid: key.kid, made: key }, null)
    }
    case 'remember':
      return {
        ...ring,
        version,
        keys: ring.keys.map((key) =>
          key.state === 'active' ? { ...key, afterlife_milliseconds: step.afterlifeMilliseconds } : key,
        ),
      }
    case 'dispose':
      return change({ action: 'disable', kid: step.key.kid })
  }
}

/** Runs until nothing is left to do; every ring on the way. */
function settle(
  ring: SigningKeySet,
  now: number,
  request: RotationRequest = clock,
  of = times,
): SigningKeySet[] {
  const seen = [ring]
  for (let i = 0; i < 30; i += 1) {
    const last = seen.at(-1) ?? ring
    const step = nextStep(last, request, of, now)
    if (step.kind === 'none') return seen
    seen.push(take(last, step, now, of))
  }
  throw new Error('it does not settle')
}

const settled = (
  ring: SigningKeySet,
  now: number,
  request: RotationRequest = clock,
  of = times,
): SigningKeySet => settle(ring, now, request, of).at(-1) ?? ring

const states = (ring: SigningKeySet) => ring.keys.map(({ state }) => state)

const bootstrapped = () => settled(emptyKeySet, start)

describe('nextStep', () => {
  it('gives a first deployment a key that signs at once', () => {
    expect(states(bootstrapped())).toEqual(['active'])
  })

  it('publishes the successor a publish window before the period is over, and not earlier', () => {
    const ring = bootstrapped()
    expect(states(settled(ring, start + 29 * day - 1))).toEqual(['active'])
    expect(states(settled(ring, start + 29 * day))).toEqual(['active', 'published'])
  })

  it('lets a published key sign when its window is over, and not earlier', () => {
    const ring = settled(bootstrapped(), start + 29 * day)
    expect(states(settled(ring, start + 30 * day - 1))).toEqual(['active', 'published'])
    expect(states(settled(ring, start + 30 * day))).toEqual(['retiring', 'active'])
  })

  it('keeps the window even when the clock comes late', () => {
    const late = start + 100 * day
    const ring = settled(bootstrapped(), late)
    expect(states(ring)).toEqual(['active', 'published'])
    expect(states(settled(ring, late + day - 1))).toEqual(['active', 'published'])
  })

  it('keeps a retiring key for the life of its last token, a stale signer and the margin counted', () => {
    const switched = settled(settled(bootstrapped(), start + 29 * day), start + 30 * day)
    const last = start + 30 * day + day + 60_000 + 7_200_000 + commitSlackMilliseconds
    expect(states(settled(switched, last - 1))).toEqual(['retiring', 'active'])
    expect(states(settled(switched, last))).toEqual(['active'])
  })

  it('remembers the longest life of tokens, so that a shorter one later removes no key too early', () => {
    const long = { ...times, accessTokenTtlSeconds: 7 * 86_400 }
    const before = settled(bootstrapped(), start + 1, clock, long)
    const switched = settled(settled(before, start + 29 * day), start + 30 * day)
    expect(switched.keys[0]?.remove_after).toBeGreaterThanOrEqual(start + 37 * day)
  })

  it('starts a rotation when asked, once for all who ask at the same time', () => {
    const request: RotationRequest = { action: 'rotate', emergency: false, at: start + 5 }
    const ring = settled(bootstrapped(), start + 5, request)
    expect(states(ring)).toEqual(['active', 'published'])
    expect(states(settled(ring, start + 6, request))).toEqual(['active', 'published'])
  })

  it('lets a new key sign at once in an emergency, once for all who call it at the same time', () => {
    const request: RotationRequest = { action: 'rotate', emergency: true, at: start + 5 }
    const ring = settled(bootstrapped(), start + 5, request)
    expect(states(ring)).toEqual(['retiring', 'active'])
    expect(states(settled(ring, start + 6, request))).toEqual(['retiring', 'active'])
  })

  it('prefers the published key in an emergency: verifiers know it', () => {
    const ring = settled(bootstrapped(), start + 29 * day)
    const request: RotationRequest = { action: 'rotate', emergency: true, at: start + 29 * day + 1 }
    expect(states(settled(ring, start + 29 * day + 1, request))).toEqual(['retiring', 'active'])
  })

  it('replaces a revoked signer in one change', () => {
    const ring = bootstrapped()
    const request: RotationRequest = { action: 'revoke', kid: activeKey(ring)?.kid ?? '' }
    for (const seen of settle(ring, start + 5, request)) expect(activeKey(seen)).toBeDefined()
    const after = settled(ring, start + 5, request)
    expect(states(after)).toEqual(['active'])
    expect(activeKey(after)?.kid).not.toBe(request.kid)
  })

  it.each(['published', 'retiring'])('takes a revoked %s key out at once', (state) => {
    const ring =
      state === 'published'
        ? settled(bootstrapped(), start + 29 * day)
        : settled(settled(bootstrapped(), start + 29 * day), start + 30 * day)
    const kid = ring.keys.find((key) => key.state === state)?.kid ?? ''
    const now = start + 29 * day + 1
    const [, first] = settle(ring, now, { action: 'revoke', kid })
    expect(toJwks(first?.keys ?? []).keys.map((key) => key.kid)).not.toContain(kid)
  })

  it('ends within the clock’s bound when the period is far shorter than the life of tokens', () => {
    const fast = { ...times, signingKeyRotationDays: 0.0001, signingKeyPublishSeconds: 2 }
    let ring = settled(emptyKeySet, start, clock, fast)
    for (let second = 0; second < 3_000; second += 5) {
      ring = settled(ring, start + second * 1000, clock, fast)
    }
    expect(ring.keys.length).toBeLessThanOrEqual(101)
    expect(activeKey(ring)).toBeDefined()
  })
})

describe('a life of random calls', () => {
  const Times = fc.record({
    accessTokenTtlSeconds: fc.integer({ min: 1, max: 100_000 }),
    signingKeyRotationDays: fc.integer({ min: 1, max: 3_000 }).map((thousandths) => thousandths / 1000),
    signingKeyPublishSeconds: fc.integer({ min: 0, max: 100_000 }),
    signingKeyRetireMarginSeconds: fc.integer({ min: 0, max: 10_000 }),
  })
  const Call = fc.record({
    after: fc.integer({ min: 0, max: 100_000_000 }),
    what: fc.constantFrom('clock', 'clock', 'clock', 'rotate', 'emergency'),
  })

  it('never has two signers, and always publishes the key of every token that is alive', () => {
    fc.assert(
      fc.property(Times, fc.array(Call, { minLength: 1, maxLength: 25 }), (of, calls) => {
        let now = start
        let ring = settled(emptyKeySet, now, clock, of)
        /** For each kid, until when a token may live that a stale signer signs at the last possible moment. */
        const alive = new Map<string, number>()
        for (const { after, what } of calls) {
          now += after
          const request: RotationRequest =
            what === 'clock' ? clock : { action: 'rotate', emergency: what === 'emergency', at: now }
          for (const seen of settle(ring, now, request, of)) {
            const signers = seen.keys.filter(({ state }) => state === 'active')
            expect(signers).toHaveLength(1)
            const signer = signers[0]?.kid ?? ''
            alive.set(signer, now + drainMilliseconds(of))
            const published = toJwks(seen.keys).keys.map(({ kid }) => kid)
            for (const [kid, until] of alive) if (until > now) expect(published).toContain(kid)
            ring = seen
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})
