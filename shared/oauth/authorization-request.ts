import * as v from 'valibot'
import { Failure } from '../errors.ts'
import { type Scope, scopes as knownScopes } from '../tokens/scopes.ts'
import type { Client } from './client.ts'
import { Parameter } from './parameter.ts'

/** Schema of an authorization request's parameters (OpenID Connect Core §3.1.2.1, RFC 7636 §4.3). */
export const AuthorizationParameters = v.object({
  response_type: Parameter,
  client_id: Parameter,
  redirect_uri: Parameter,
  scope: Parameter,
  state: Parameter,
  nonce: Parameter,
  code_challenge: Parameter,
  code_challenge_method: Parameter,
  response_mode: Parameter,
  prompt: Parameter,
  request: Parameter,
  request_uri: Parameter,
})
export type AuthorizationParameters = v.InferOutput<typeof AuthorizationParameters>

/** Values of `error` in an authorization response (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6, §6). */
type AuthorizationErrorCode =
  | 'invalid_request'
  | 'invalid_scope'
  | 'login_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'unsupported_response_type'

/**
 * Error for a bad parameter of an authorization request whose client and redirect URI are valid. `GET
 * /oauth2/authorize` redirects to the client with `error`; consent answers it like any other failure.
 */
export class AuthorizationError extends Failure {
  readonly error: AuthorizationErrorCode

  constructor(field: string, reason: string, error: AuthorizationErrorCode = 'invalid_request') {
    super(error === 'invalid_scope' ? 'invalid_scope' : 'invalid_parameter', { fields: [{ field, reason }] })
    this.error = error
  }
}

/** The grant that a client asks the user to consent to. */
export interface RequestedGrant {
  scopes: Scope[]
  codeChallenge: string
}

/**
 * Makes all checks of an authorization request whose client and redirect URI are valid, in the order in which
 * errors are reported. Throws the first one as AuthorizationError.
 */
export function checkAuthorizationRequest(
  parameters: AuthorizationParameters,
  client: Client,
): RequestedGrant {
  checkRequestObject(parameters)
  checkResponseType(parameters)
  const scopes = checkOpenIdScope(parameters, client)
  const codeChallenge = checkCodeChallenge(parameters)
  checkPrompt(parameters)
  return { scopes, codeChallenge }
}

/** Rejects request objects: unsupported, and they must not be ignored (OpenID Connect Core §6). */
function checkRequestObject({ request, request_uri }: AuthorizationParameters): void {
  if (request !== undefined) {
    throw new AuthorizationError('request', 'is not supported', 'request_not_supported')
  }
  if (request_uri !== undefined) {
    throw new AuthorizationError('request_uri', 'is not supported', 'request_uri_not_supported')
  }
}

/** Checks the response type: only `code` in the query is supported (RFC 6749 §3.1.1, RFC 9700 §2.1.2). */
function checkResponseType({ response_type, response_mode }: AuthorizationParameters): void {
  if (response_type === undefined) throw new AuthorizationError('response_type', 'is required')
  if (response_type !== 'code') {
    throw new AuthorizationError('response_type', 'is not supported', 'unsupported_response_type')
  }
  if (response_mode !== undefined && response_mode !== 'query') {
    throw new AuthorizationError('response_mode', 'is not supported')
  }
}

/** Parses a request's scopes, each once. All must be known and registered for the client (RFC 6749 §3.3). */
export function checkScope(scope: string | undefined, client: Pick<Client, 'scopes'>): Scope[] {
  const names = new Set((scope ?? '').split(' ').filter((name) => name !== ''))
  const allowed = knownScopes.filter((name) => client.scopes.includes(name) && names.has(name))
  if (names.size === 0) throw new AuthorizationError('scope', 'is required', 'invalid_scope')
  if (allowed.length < names.size) {
    const reason = 'holds one that is unknown or not for this client'
    throw new AuthorizationError('scope', reason, 'invalid_scope')
  }
  return allowed
}

/** Checks an authorization request's scopes, which must include `openid` (OpenID Connect Core §3.1.2.1). */
function checkOpenIdScope({ scope }: AuthorizationParameters, client: Client): Scope[] {
  const scopes = checkScope(scope, client)
  if (!scopes.includes('openid')) throw new AuthorizationError('scope', 'must hold openid', 'invalid_scope')
  return scopes
}

/** Form of an S256 challenge: base64url of a SHA-256. */
const s256Challenge = /^[A-Za-z0-9_-]{43}$/

/**
 * Checks that the request has a PKCE challenge with the method S256 (RFC 7636 §4.3 and §4.4.1, RFC 9700
 * §2.1.1). An omitted method would mean `plain`. Returns the challenge.
 */
function checkCodeChallenge(parameters: AuthorizationParameters): string {
  const { code_challenge, code_challenge_method } = parameters
  if (code_challenge === undefined) throw new AuthorizationError('code_challenge', 'is required')
  if (code_challenge_method !== 'S256') throw new AuthorizationError('code_challenge_method', 'must be S256')
  if (!s256Challenge.test(code_challenge)) {
    throw new AuthorizationError('code_challenge', 'must be the base64url of a SHA-256')
  }
  return code_challenge
}

/**
 * Rejects `prompt=none`, which asks for an answer without a page. That is impossible here: browsers have no
 * session, and the user consents to every code (OpenID Connect Core §3.1.2.1 and §3.1.2.6). The authorization
 * page handles other prompts.
 */
function checkPrompt({ prompt }: AuthorizationParameters): void {
  const prompts = prompt?.split(' ') ?? []
  if (!prompts.includes('none')) return
  if (prompts.length > 1) throw new AuthorizationError('prompt', 'must not hold none beside others')
  throw new AuthorizationError('prompt', 'none cannot be granted: the user has to sign in', 'login_required')
}
