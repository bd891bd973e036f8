import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { ConditionFailed, transact } from '../db/write.ts'
import { Failure, invalidParameter } from '../errors.ts'
import type { RequestInfo } from '../http/request.ts'
import { isSameSecret } from '../is-same-secret.ts'
import { retry } from '../retry.ts'
import { issueAccessToken, newAccessToken } from '../tokens/access-token.ts'
import { tokenExpiry } from '../tokens/device-token.ts'
import { readDerivingSession, revokeDerived, SessionChanged } from '../tokens/session.ts'
import { type AuthorizationCode, consumeCode, readCode } from './authorization-code.ts'
import { authenticateClient, readClientCredentials } from './client-authentication.ts'
import type { Client } from './client.ts'
import { DeviceTokenAnswer, issueDeviceToken } from './exchange-access-token.ts'
import { Parameter, requireParameter } from './parameter.ts'

/** Schema of the parameters of the token endpoint (OAuth 2.1 §4.1.3). */
export const TokenParameters = v.object({
  grant_type: Parameter,
  code: Parameter,
  redirect_uri: Parameter,
  client_id: Parameter,
  client_secret: Parameter,
  code_verifier: Parameter,
})
export type TokenParameters = v.InferOutput<typeof TokenParameters>

/** Schema of the token endpoint's answer (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3). */
export const TokenAnswer = v.object({
  ...DeviceTokenAnswer.entries,
  /** The device_token again, under its OpenID Connect name. */
  id_token: v.string(),
  access_token: v.string(),
})
export type TokenAnswer = v.InferOutput<typeof TokenAnswer>

/**
 * Answers a token request (OAuth 2.1 §3.2): exchanges a code and its PKCE verifier for tokens, once (§4.1.3).
 * A wrong client, redirect URI or verifier leaves the code unused. If an otherwise valid request has a used
 * code, two parties have that code. The access_token issued for the code is then revoked (RFC 9700 §4.5, RFC
 * 6749 §10.5).
 */
export async function handleTokenRequest(
  parameters: TokenParameters,
  request: Pick<RequestInfo, 'authorization'>,
): Promise<TokenAnswer> {
  const grantType = requireParameter('grant_type', parameters.grant_type)
  if (grantType !== 'authorization_code') throw new Failure('unsupported_grant_type')
  // Client and code are read in parallel but checked in order: a client that fails to authenticate learns
  // nothing about the code.
  const [client, grant] = await Promise.all([
    authenticateClient(readClientCredentials(parameters, request)),
    parameters.code === undefined ? undefined : readCode(parameters.code),
  ])
  const code = requireParameter('code', parameters.code)
  const redirectUri = requireParameter('redirect_uri', parameters.redirect_uri)
  const verifier = readVerifier(parameters, client, grant)
  // Client and redirect URI must be those of the authorization request that the code was issued for (RFC 6749
  // §4.1.3).
  if (grant?.clientId !== client.clientId || grant.redirectUri !== redirectUri)
    throw new Failure('invalid_grant')
  checkCodeVerifier(verifier, grant.codeChallenge)
  if (grant.givenKey !== undefined) return rejectUsedCode(grant)
  if (grant.expiresAt <= Date.now()) throw new Failure('invalid_grant')
  return issueTokens(code, grant, client)
}

/** The PKCE verifier. Only a client that may leave PKCE out, and did so for this code, may send none. */
const readVerifier = (
  { code_verifier }: TokenParameters,
  { pkce }: Client,
  grant: AuthorizationCode | undefined,
): string | undefined =>
  pkce !== 'required' && grant?.codeChallenge === undefined
    ? code_verifier
    : requireParameter('code_verifier', code_verifier)

/** Form of a PKCE verifier: 43 to 128 unreserved characters (RFC 7636 §4.1). */
const verifierShape = /^[A-Za-z0-9\-._~]{43,128}$/

/**
 * Throws `invalid_grant` unless the PKCE verifier matches the challenge (RFC 7636 §4.6), or neither was sent:
 * a verifier without a challenge shows that somebody removed the challenge from the authorization request
 * (RFC 9700 §4.8.2). Throws `invalid_parameter` if a matching verifier is malformed.
 */
function checkCodeVerifier(verifier: string | undefined, challenge: string | undefined): void {
  if (verifier === undefined && challenge === undefined) return
  if (verifier === undefined || challenge === undefined) throw new Failure('invalid_grant')
  const digest = createHash('sha256').update(verifier).digest('base64url')
  if (!isSameSecret(digest, challenge)) throw new Failure('invalid_grant')
  if (!verifierShape.test(verifier))
    throw invalidParameter('code_verifier', 'must be 43 to 128 unreserved characters')
}

/**
 * Signs the device_token before it writes: if signing fails, the code stays unused and can be tried again.
 * One transaction uses up the code, writes the access_token and checks the session. The code's session and
 * scopes are checked here, because the stored code may be forged.
 */
async function issueTokens(code: string, grant: AuthorizationCode, client: Client): Promise<TokenAnswer> {
  const { userId, sessionId, clientId, authenticatedAt } = grant
  const scopes = grant.scopes.filter((scope) => client.scopes.includes(scope))
  if (scopes.length === 0) throw new Failure('invalid_grant')
  // A derived token never outlives the session's own token.
  const expiresAt = Math.min(tokenExpiry(Date.now()), grant.sessionExpiresAt)
  const common = { userId, sessionId, clientId, scopes, expiresAt, authenticatedAt }
  const accessToken = newAccessToken(userId, sessionId)
  const answer = await issueDeviceToken({ ...common, accessToken, nonce: grant.nonce })
  const deriveToken = async () => {
    const { generation, next: derived, writes } = await readDerivingSession(grant)
    const derivedGrant = { ...common, firstParty: false, generation, derived }
    const { key, put } = issueAccessToken(derivedGrant, accessToken)
    await transact([consumeCode(code, key, expiresAt), ...writes, put])
  }
  try {
    await retry(deriveToken, (error) => error instanceof SessionChanged)
  } catch (error) {
    if (error instanceof ConditionFailed) return rejectUsedCode(await readCode(code))
    throw error
  }
  return { ...answer, id_token: answer.device_token, access_token: accessToken }
}

/**
 * Refuses a used code: revokes the access_token that the code was exchanged for, then throws `invalid_grant`.
 * The token was written in the transaction that used up the code, so it can be found.
 */
async function rejectUsedCode(grant: AuthorizationCode | undefined): Promise<never> {
  if (grant?.givenKey !== undefined) await revokeDerived(grant.givenKey, grant)
  throw new Failure('invalid_grant')
}
