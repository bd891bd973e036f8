import { readJwks } from '../audit/read-jwks.ts'
import type { Finding } from './finding.ts'

/** The finding of a check that needs the address of the API. */
export const unknownAddress: Finding = {
  ok: false,
  words: 'its address is not known: name it with --base-url',
}

/** Checks that discovery names the API's own address as issuer, and that the JWKS has a key. */
export async function checkApi(baseUrl: string | undefined): Promise<Finding> {
  if (baseUrl === undefined) return unknownAddress
  const jwks = await readJwks(baseUrl)
  if (!jwks.answered) return { ok: false, words: jwks.problem }
  return {
    ok: jwks.issuer === baseUrl && jwks.keys.length > 0,
    words: `${baseUrl} answers; issuer ${jwks.issuer}, ${jwks.keys.length} public keys`,
  }
}

/** Any endpoint for signed-in users. */
const protectedPath = '/account/info'

/** Under these names API Gateway passes on headers that it keeps for itself. */
const renamed = 'x-amzn-remapped-www-authenticate'

/**
 * Checks that a 401 brings the header `www-authenticate` to the client (RFC 6750 §3). Some kinds of AWS
 * endpoints rename it.
 */
export async function checkChallenge(baseUrl: string | undefined): Promise<Finding> {
  if (baseUrl === undefined) return unknownAddress
  const { status, headers } = await fetch(baseUrl + protectedPath, { signal: AbortSignal.timeout(10_000) })
  const challenge = headers.get('www-authenticate')
  if (status !== 401) return { ok: false, words: `${protectedPath} without a token is answered ${status}` }
  if (challenge?.startsWith('Bearer'))
    return { ok: true, words: `a 401 carries www-authenticate: ${challenge}` }
  return {
    ok: false,
    words: headers.has(renamed)
      ? `a 401 carries ${renamed} instead of www-authenticate: what stands before the functions renames it`
      : 'a 401 carries no www-authenticate',
  }
}
