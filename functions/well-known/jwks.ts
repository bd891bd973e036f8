import * as v from 'valibot'
import { Failure } from '../../shared/errors.ts'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { publicDocument } from '../../shared/http/public-document.ts'
import { Jwks, toJwks, readKeySet } from '../../shared/keys/key-set.ts'
import { documentMaxAgeSeconds } from '../../shared/keys/key-times.ts'

/**
 * Answers the JWKS: the public keys that device_tokens are verified with (RFC 7517 §5). Answers `unavailable`
 * before a deployment's first key.
 */
export const handler = publicEndpoint({
  dialect: 'oauth',
  // Others verify tokens with it, while only this service is switched off.
  answersInMaintenance: true,
  input: v.object({}),
  output: Jwks,
  async run({ request: { header } }) {
    // The key set is read without a cache, so that a revoked key leaves the JWKS and an emergency key joins
    // it at once.
    const jwks = toJwks((await readKeySet()).keys)
    if (jwks.keys.length === 0) throw new Failure('unavailable', { retryAfterSeconds: 5 })
    return publicDocument(jwks, {
      maxAgeSeconds: documentMaxAgeSeconds(),
      ifNoneMatch: header('if-none-match'),
    })
  },
})
