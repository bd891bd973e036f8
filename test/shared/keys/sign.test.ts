import { KMSClient } from '@aws-sdk/client-kms'
import { beforeEach, expect, it, vi } from 'vitest'
import { emptyKeySet, type SigningKey, writeKeySet } from '../../../shared/keys/set.ts'
import { forgetCachedKeySet, signJwt } from '../../../shared/keys/sign.ts'
import { readKeySet } from '../../../shared/keys/set.ts'
import { settings } from '../../../shared/settings.ts'
import { useMemoryTable } from '../../support/memory-table.ts'

useMemoryTable()

const keyOf = (kid: string, state: 'active' | 'retiring', publishedAt: number): SigningKey => ({
  ...{ kid, arn: kid, n: 'n', e: 'AQAB', state, published_at: publishedAt },
  ...{ active_at: publishedAt, retiring_at: null, retired_at: null, remove_after: null, drain_ms: 0 },
})

/** Signs with these keys. Returns how long that took, in milliseconds. */
async function sign(keys: SigningKey[]): Promise<number> {
  await writeKeySet(await readKeySet(), { ...emptyKeySet, keys })
  forgetCachedKeySet()
  const startedAt = performance.now()
  await signJwt({})
  return performance.now() - startedAt
}

beforeEach(() => {
  vi.spyOn(KMSClient.prototype, 'send').mockImplementation(
    () => Promise.resolve({ Signature: new Uint8Array(1) }) as never,
  )
})

/** Sets for how long functions cache the JWKS: half of the publish window. */
const cacheJwks = (milliseconds: number) =>
  vi.spyOn(settings(), 'signingKeyPublishSeconds', 'get').mockReturnValue((2 * milliseconds) / 1_000)

it('a key that signs at once in an emergency waits until every function’s JWKS has it', async () => {
  cacheJwks(150)
  const old = keyOf('old', 'retiring', 0)
  // A timer may fire a millisecond early.
  expect(await sign([old, keyOf('new', 'active', Date.now())])).toBeGreaterThanOrEqual(149)
})

it.each([
  ['a key that was published in time', () => [keyOf('old', 'retiring', 0), keyOf('new', 'active', 0)]],
  ['the first key of a deployment', () => [keyOf('new', 'active', Date.now())]],
])('%s signs without a wait', async (_what, keys) => {
  cacheJwks(1_000)
  expect(await sign(keys())).toBeLessThan(999)
})
