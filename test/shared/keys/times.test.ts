import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  documentMaxAgeSeconds,
  jwksCacheMilliseconds,
  lookaheadMilliseconds,
  remainingSigningMilliseconds,
  signerCacheMilliseconds,
} from '../../../shared/keys/times.ts'
import { settings } from '../../../shared/settings.ts'

let before: ReturnType<typeof settings>
beforeEach(() => {
  before = { ...settings() }
})
afterEach(() => void Object.assign(settings(), before))

it.each([
  [86_400, 300, 300],
  [7_200, 300, 300],
  [7_200, 3_600, 3_600],
  [7_200, 3_601, 3_600],
  [7_200, 86_400, 3_600],
  [5, 300, 2],
  [1, 300, 0],
  [0, 300, 0],
  [86_400, 0, 0],
])(
  'with a publish window of %i s and jwksMaxAgeSeconds %i, the JWKS is cached for %i s',
  (signingKeyPublishSeconds, jwksMaxAgeSeconds, maxAge) => {
    Object.assign(settings(), { signingKeyPublishSeconds, jwksMaxAgeSeconds })
    expect(documentMaxAgeSeconds()).toBe(maxAge)
  },
)

it.each([
  [86_400, 60_000],
  [120, 60_000],
  [119, 59_500],
  [2, 1_000],
  [1, 500],
  [0, 0],
])(
  'with a publish window of %i s, a signer caches the key set for %i ms',
  (signingKeyPublishSeconds, milliseconds) => {
    Object.assign(settings(), { signingKeyPublishSeconds })
    expect(signerCacheMilliseconds(signingKeyPublishSeconds)).toBe(milliseconds)
    expect(jwksCacheMilliseconds()).toBe(Math.min(1_000, milliseconds))
  },
)

it.each([
  [1_000_000, 63_000],
  [1_062_999, 1],
  [1_063_000, 0],
  [2_000_000, 0],
])('a key that retired at 1000000 may sign at %i for another %i ms', (now, milliseconds) => {
  const retired = { retiring_at: 1_000_000 }
  const times = { signingKeyPublishSeconds: 86_400 }
  expect(remainingSigningMilliseconds(retired, times, now)).toBe(milliseconds)
})

it.each([
  [86_400, 30_000],
  [120, 30_000],
  [100, 25_000],
  [2, 500],
])(
  'with a publish window of %i s, a scheduled run waits at most %i ms for a step',
  (signingKeyPublishSeconds, milliseconds) => {
    expect(lookaheadMilliseconds({ signingKeyPublishSeconds })).toBe(milliseconds)
  },
)
