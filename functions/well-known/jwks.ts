import * as v from 'valibot'
import { cacheRead } from '../../shared/cache-read.ts'
import { Failure } from '../../shared/errors.ts'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { publicDocument } from '../../shared/http/public-document.ts'
import { Jwks, toJwks, readKeySet } from '../../shared/keys/set.ts'
import { jwksCacheMilliseconds } from '../../shared/keys/times.ts'

/**
 * The key set, read for each answer, so that a revoked key leaves the JWKS and an emergency key joins it at
 * once. From ten answers a second on, it is read only once a second: a partition gives all functions together
 * 3,000 reads a second of this one item.
 */
const keySets = cacheRead(readKeySet, {
  maxAge: jwksCacheMilliseconds,
  onlyAfter: { requests: 10, withinMilliseconds: 1_000 },
  keeps: ({ keys }) => keys.length > 0,
})

/**
 * Answers the JWKS: the public keys that device_tokens are verified with (RFC 7517 §5). Answers `unavailable`
 * before a deployment's first key.
 */
export const handler = publicEndpoint({
  dialect: 'oauth',
  // Other services verify tokens with the JWKS, and they are not switched off.
  answersInMaintenance: true,
  input: v.object({}),
  output: Jwks,
  async run({ request }) {
    const jwks = toJwks((await keySets.get()).keys)
    if (jwks.keys.length === 0) throw new Failure('unavailable', { retryAfterSeconds: 5 })
    return publicDocument(jwks, request)
  },
})
