import type { Client } from './client.ts'
import { ConditionFailed, transact } from '../db/write.ts'
import { Failure } from '../errors.ts'
import { settings } from '../settings.ts'
import { signDeviceToken } from '../tokens/device-token.ts'
import { issueAccessToken, revokeTokenByKey, requireLiveSession } from '../tokens/access-token.ts'
import { type CodeItem, consumeCode, parseCode, readCode } from './authorization-code.ts'
import { checkCodeBinding } from './check-code-binding.ts'
import { checkCodeVerifier } from './check-code-verifier.ts'
import { requireParameter } from './parameter.ts'
import { readUserFacts } from './read-user-facts.ts'
import type { TokenAnswer, TokenParameters } from './token-request.ts'

/**
 * The grant `authorization_code` (OAuth 2.1 §4.1.3): a code and its PKCE verifier for tokens, once. A request with a wrong client, redirect URI or
 * verifier is refused before the code is touched. A code that was used before, by a request that is otherwise right, is
 * in two hands: what it gave is revoked (RFC 9700 §4.5, RFC 6749 §10.5).
 */
export async function exchangeCode(
  parameters: TokenParameters,
  authentication: Promise<Client>,
): Promise<TokenAnswer> {
  // Read together, judged in order: a client that fails to authenticate learns nothing of the code.
  const [client, grant] = await Promise.all([
    authentication,
    parameters.code === undefined ? undefined : readCode(parameters.code),
  ])
  const code = requireParameter('code', parameters.code)
  const redirectUri = requireParameter('redirect_uri', parameters.redirect_uri)
  const verifier = requireParameter('code_verifier', parameters.code_verifier)
  if (grant === undefined) throw new Failure('invalid_grant')
  checkCodeBinding(grant, client, redirectUri)
  checkCodeVerifier(verifier, grant.code_challenge)
  if (grant.given_key !== undefined) return rejectUsedCode(grant)
  if (grant.expires_at <= Date.now()) throw new Failure('invalid_grant')
  return issueTokens(code, grant)
}

/**
 * Signs first and writes last: a fault of the signing service leaves the code as it was, to be tried again, and nothing
 * that was signed leaves unless the one write that uses the code up has been won.
 */
async function issueTokens(code: string, grant: CodeItem): Promise<TokenAnswer> {
  // What derives from a session ends with it at the latest, so that whoever can end the session can end all of it.
  const expiresAt = Math.min(Date.now() + settings().accessTokenTtlSeconds * 1000, grant.session_expires_at)
  const token = issueAccessToken({
    userId: grant.user_id,
    sessionId: grant.session_id,
    clientId: grant.client_id,
    scopes: grant.scopes,
    firstParty: false,
    expiresAt,
    authenticatedAt: grant.authenticated_at,
  })
  const device_token = await signDeviceToken({
    userId: grant.user_id,
    clientId: grant.client_id,
    sessionId: grant.session_id,
    scopes: grant.scopes,
    expiresAt,
    authenticatedAt: grant.authenticated_at,
    accessToken: token.accessToken,
    nonce: grant.nonce,
    ...(await readUserFacts(grant.user_id, grant.scopes)),
  })
  const use = consumeCode(code, token.key, expiresAt)
  try {
    await transact([use, requireLiveSession({ key: grant.session_key }), token.put])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    const stored = error.failures.find(({ write }) => write === use)?.stored
    return rejectUsedCode(stored === undefined ? undefined : parseCode(stored))
  }
  return {
    device_token,
    id_token: device_token,
    access_token: token.accessToken,
    token_type: 'Bearer',
    expires_in: Math.floor((expiresAt - Date.now()) / 1000),
    expire: expiresAt,
    scope: grant.scopes.join(' '),
  }
}

/**
 * Refuses a code, and revokes what it was exchanged for if it was. The code and the token were written in one
 * transaction, so whoever finds the code used finds the token to revoke, however close behind the winner it comes.
 */
async function rejectUsedCode(grant: CodeItem | undefined): Promise<never> {
  if (grant?.given_key !== undefined) await revokeTokenByKey(grant.given_key, grant.client_id)
  throw new Failure('invalid_grant')
}
