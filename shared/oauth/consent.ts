import * as v from 'valibot'
import type { Client } from './client.ts'
import { ConditionFailed, transact } from '../db/write.ts'
import { Failure } from '../errors.ts'
import { bearerChallenge } from '../http/bearer-challenge.ts'
import { settings } from '../settings.ts'
import { type Caller, requireLiveSession } from '../tokens/access-token.ts'
import { issuer } from '../tokens/discovery.ts'
import { authorizationResponseUrl } from './authorization-response-url.ts'
import { issueCode } from './authorization-code.ts'
import type { AuthorizationParameters } from './authorization-parameters.ts'
import { checkAuthorizationRequest } from './check-authorization-request.ts'
import { checkRedirectUri } from './check-redirect-uri.ts'

/** What the authorization page is told: where the browser goes, and, where the user agreed, the code on its own. */
export const ConsentAnswer = v.object({
  redirect_to: v.string(),
  code: v.optional(v.string()),
  state: v.optional(v.string()),
  iss: v.optional(v.string()),
  /** Seconds. */
  expires_in: v.optional(v.pipe(v.number(), v.integer())),
})
export type ConsentAnswer = v.InferOutput<typeof ConsentAnswer>

/**
 * Answers an authorization request on behalf of the user who agreed to it, or did not (OAuth 2.1 §4.1.2). The request is
 * checked as it was when it came: the page in between is only a messenger. The code is bound to client, redirect, challenge, nonce, scope and session.
 */
export async function consent(
  parameters: AuthorizationParameters,
  approved: boolean,
  registered: Client | undefined,
  caller: Caller,
): Promise<ConsentAnswer> {
  const { client, redirectUri } = checkRedirectUri(registered, parameters.redirect_uri)
  const { scopes, codeChallenge } = checkAuthorizationRequest(parameters, client)
  const { state, nonce } = parameters
  if (!approved)
    return { redirect_to: authorizationResponseUrl(redirectUri, { error: 'access_denied', state }) }
  const { authorizationCodeTtlSeconds } = settings()
  const { code, put } = issueCode({
    user_id: caller.userId,
    session_id: caller.sessionId,
    session_key: caller.key,
    session_expires_at: caller.expiresAt,
    authenticated_at: caller.authenticatedAt,
    client_id: client.clientId,
    redirect_uri: redirectUri,
    code_challenge: codeChallenge,
    nonce,
    scopes,
    expires_at: Date.now() + authorizationCodeTtlSeconds * 1000,
  })
  try {
    await transact([put, requireLiveSession(caller)])
  } catch (error) {
    if (error instanceof ConditionFailed) throw bearerChallenge(new Failure('unauthenticated'))
    throw error
  }
  return {
    code,
    redirect_to: authorizationResponseUrl(redirectUri, { code, state }),
    ...(state === undefined ? {} : { state }),
    iss: issuer(),
    expires_in: authorizationCodeTtlSeconds,
  }
}
