import * as v from 'valibot'
import { cacheRead } from '../../shared/cache-read.ts'
import { Failure } from '../../shared/errors.ts'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { publicDocument } from '../../shared/http/public-document.ts'
import { Jwks, toJwks, readKeySet } from '../../shared/keys/set.ts'
import { jwksCacheMilliseconds } from '../../shared/keys/times.ts'

/**
 * At up to ten requests a second, an instance reads the key set for each answer, so that a new or revoked key
 * counts at once. Above that rate, it reuses the key set for up to a second, because DynamoDB serves at most
 * 3,000 reads of one item a second.
 */
const keySets = cacheRead(readKeySet, {
  maxAge: jwksCacheMilliseconds,
  onlyAfter: { requests: 10, withinMilliseconds: 1_000 },
  keeps: ({ keys }) => keys.length > 0,
})

/**
 * Returns the JWKS: the public keys with which device_tokens are verified (RFC 7517 §5). Fails with
 * `unavailable` until the deployment has its first key.
 */
export const handler = publicEndpoint({
  dialect: 'oauth',
  // Works during maintenance, too, because other services keep running and verify tokens with the JWKS.
  answersInMaintenance: true,
  input: v.object({}),
  output: Jwks,
  async run({ request }) {
    const jwks = toJwks((await keySets.get()).keys)
    if (jwks.keys.length === 0) throw new Failure('unavailable', { retryAfterSeconds: 5 })
    return publicDocument(jwks, request)
  },
})
