import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson } from '../canonical-json.ts'
import type { SigningKey } from './key-set.ts'

/** A public signing key as RFC 7517 §4 and RFC 7518 §6.3.1 write it. */
export const Jwk = v.object({
  kty: v.literal('RSA'),
  n: v.string(),
  e: v.string(),
  alg: v.literal('RS256'),
  use: v.literal('sig'),
  kid: v.string(),
})
export type Jwk = v.InferOutput<typeof Jwk>

/** The key set (RFC 7517 §5). */
export const Jwks = v.object({ keys: v.array(Jwk) })
export type Jwks = v.InferOutput<typeof Jwks>

/** The public key set of a ring: every key that signs, will sign, or has signed a token that may still be alive. */
export const toJwks = (keys: readonly SigningKey[]): Jwks => ({
  keys: keys.filter(({ state }) => state !== 'retired').map(toJwk),
})

/** The public half of a key. */
export const toJwk = ({ n, e, kid }: Pick<SigningKey, 'n' | 'e' | 'kid'>): Jwk => ({
  kty: 'RSA',
  n,
  e,
  alg: 'RS256',
  use: 'sig',
  kid,
})

/** SHA-256, hex, of the key set as canonical JSON: members sorted, `{"keys":[…]}` and nothing else. */
export const jwksDigest = (keys: readonly SigningKey[]): string =>
  createHash('sha256')
    .update(canonicalJson(toJwks(keys)))
    .digest('hex')
