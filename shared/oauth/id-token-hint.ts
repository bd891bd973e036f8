import { compactVerify, decodeProtectedHeader, errors } from 'jose'
import * as v from 'valibot'
import { issuer } from '../env.ts'
import { readSigningKey, type SigningKey, toJwk } from '../keys/set.ts'

/** What an ID Token hint tells: the user and the client that the token was issued for. */
export interface IdTokenHint {
  userId: number
  clientId: string
}

const Claims = v.object({
  iss: v.string(),
  sub: v.pipe(v.string(), v.regex(/^[1-9]\d{0,15}$/), v.transform(Number), v.safeInteger()),
  aud: v.string(),
})

/** Form of a `kid`: an RFC 7638 thumbprint. */
const kidShape = /^[A-Za-z0-9_-]{43}$/

/**
 * Reads a device_token that comes back as `id_token_hint` (OpenID Connect Core §3.1.2.1, RP-Initiated Logout
 * §2): one that this service signed with a key that the JWKS has or had. Expired tokens count, and those of
 * any client. A key that was revoked counts, too: whoever stole it could at most restrict a request
 * to a user. Resolves with undefined for any other text.
 */
export async function readIdTokenHint(token: string): Promise<IdTokenHint | undefined> {
  const kid = readKid(token)
  const key = kid === undefined ? undefined : await readSigningKey(kid)
  const payload = key && (await verifySignature(token, key))
  if (payload === undefined) return undefined
  const { iss, sub, aud } = v.parse(Claims, JSON.parse(new TextDecoder().decode(payload)))
  return iss === issuer() ? { userId: sub, clientId: aud } : undefined
}

function readKid(token: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(token)
    return typeof kid === 'string' && kidShape.test(kid) ? kid : undefined
  } catch {
    // The text is no JWT.
    return undefined
  }
}

async function verifySignature(token: string, key: SigningKey): Promise<Uint8Array | undefined> {
  try {
    return (await compactVerify(token, toJwk(key), { algorithms: ['RS256'] })).payload
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
