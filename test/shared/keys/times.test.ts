import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  documentMaxAgeSeconds,
  jwksCacheMilliseconds,
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
  'with a publish window of %i s and jwksMaxAgeSeconds %i, the JWKS is cached for %i s (at most half the window)',
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
  'with a publish window of %i s, a signer caches the key set for %i ms (at most half the window, at most 60 s)',
  (signingKeyPublishSeconds, milliseconds) => {
    Object.assign(settings(), { signingKeyPublishSeconds })
    expect(signerCacheMilliseconds(signingKeyPublishSeconds)).toBe(milliseconds)
    expect(jwksCacheMilliseconds()).toBe(Math.min(1_000, milliseconds))
  },
)
