import * as v from 'valibot'
import { transact } from '../db/write.ts'
import { settings } from '../settings.ts'
import { type Caller, tokenFailure } from '../tokens/access-token.ts'
import { requireLiveSession } from '../tokens/session.ts'
import { issuer } from '../env.ts'
import { issueCode } from './authorization-code.ts'
import {
  type AuthorizationParameters,
  checkAuthorizationRequest,
  isSignInOlder,
  signInTooOld,
} from './authorization-request.ts'
import type { Client } from './client.ts'
import { authorizationResponseUrl, checkRedirectUri } from './redirect-uri.ts'

/** The consent endpoint's answer: the URL to open next and, if the user consented, the URL's parameters. */
export const ConsentAnswer = v.object({
  redirect_to: v.string(),
  code: v.optional(v.string()),
  state: v.optional(v.string()),
  iss: v.optional(v.string()),
  /** Seconds until the authorization code expires. */
  expires_in: v.optional(v.pipe(v.number(), v.integer())),
})
export type ConsentAnswer = v.InferOutput<typeof ConsentAnswer>

/**
 * Answers an authorization request for the user who approved or denied it (OAuth 2.1 §4.1.2). Repeats all
 * checks, because the request comes from a browser. Binds the code to client, redirect URI, challenge, nonce,
 * scopes and session. A user whose sign-in is too old for the request can only deny it; one whom the request
 * does not mean (`id_token_hint`) gets `login_required` for the client.
 */
export async function consent(
  parameters: AuthorizationParameters,
  approved: boolean,
  registered: Client | undefined,
  caller: Caller,
): Promise<ConsentAnswer> {
  const { client, redirectUri } = checkRedirectUri(registered, parameters.redirect_uri)
  const request = await checkAuthorizationRequest(parameters, client)
  const { state, nonce } = parameters
  const refuse = (error: string) => ({ redirect_to: authorizationResponseUrl(redirectUri, { error, state }) })
  if (!approved) return refuse('access_denied')
  if (request.userId !== undefined && request.userId !== caller.userId) return refuse('login_required')
  if (isSignInOlder(caller, request.maxSignInAgeSeconds)) {
    if (request.isSilent) return refuse('login_required')
    throw signInTooOld(request.maxSignInAgeSeconds)
  }
  const { authorizationCodeTtlSeconds } = settings()
  const { userId, sessionId, authenticatedAt } = caller
  const { code, put } = issueCode({
    userId,
    sessionId,
    sessionDigest: caller.digest,
    sessionExpiresAt: caller.expiresAt,
    authenticatedAt,
    clientId: client.clientId,
    redirectUri,
    codeChallenge: request.codeChallenge,
    nonce,
    scopes: request.scopes,
    expiresAt: Date.now() + authorizationCodeTtlSeconds * 1000,
  })
  await transact([put, requireLiveSession(caller, () => tokenFailure('unauthenticated'))])
  return {
    code,
    redirect_to: authorizationResponseUrl(redirectUri, { code, state }),
    ...(state === undefined ? {} : { state }),
    iss: issuer(),
    expires_in: authorizationCodeTtlSeconds,
  }
}
