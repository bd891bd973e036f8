import * as v from 'valibot'
import { Failure } from '../../shared/errors.ts'
import { publicDocument } from '../../shared/http/public-document.ts'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { documentMaxAgeSeconds } from '../../shared/keys/document-age.ts'
import { Jwks, toJwks } from '../../shared/keys/jwks.ts'
import { readKeySet } from '../../shared/keys/key-set.ts'

/** The public keys by which device_tokens are verified (RFC 7517 §5). Before a deployment's first key: `unavailable`. */
export const handler = publicEndpoint({
  dialect: 'oauth',
  input: v.object({}),
  output: Jwks,
  async run({ request: { header } }) {
    // Read anew each time: a key that is revoked is gone at once, and one that signs in an emergency is there at once.
    const jwks = toJwks((await readKeySet()).keys)
    if (jwks.keys.length === 0) throw new Failure('unavailable', { retryAfterSeconds: 5 })
    return publicDocument(jwks, {
      maxAgeSeconds: documentMaxAgeSeconds(),
      ifNoneMatch: header('if-none-match'),
    })
  },
})
