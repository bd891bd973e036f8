import * as v from 'valibot'
import { Failure } from '../errors.ts'
import { countCharacters } from '../fields.ts'
import type { Caller } from '../tokens/access-token.ts'
import { type Scope, scopes as knownScopes } from '../tokens/scopes.ts'
import type { Client } from './client.ts'
import { type IdTokenHint, readIdTokenHint } from './id-token-hint.ts'
import { Parameter } from './parameter.ts'

/** Schema of `max_age`, in seconds: text as in a query, or a number in JSON. */
const MaxAge = v.pipe(
  v.optional(v.union([v.string(), v.number()])),
  v.transform((value) => value?.toString()),
  Parameter,
)

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
  max_age: MaxAge,
  id_token_hint: Parameter,
  login_hint: Parameter,
  acr_values: Parameter,
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
 * Error for a bad parameter of a request with a valid client and redirect URI. `GET /oauth2/authorize`
 * redirects to the client with `error`; the consent endpoint returns a failure.
 */
export class AuthorizationError extends Failure {
  readonly error: AuthorizationErrorCode

  constructor(field: string, reason: string, error: AuthorizationErrorCode = 'invalid_request') {
    super(error === 'invalid_scope' ? 'invalid_scope' : 'invalid_parameter', { fields: [{ field, reason }] })
    this.error = error
  }
}

/**
 * Checks an authorization request whose client and redirect URI are valid. Throws AuthorizationError if a
 * check fails. `login_hint` and `acr_values` need no check: the first only helps to fill in a form, and every
 * sign-in has the one class that there is.
 */
export async function checkAuthorizationRequest(parameters: AuthorizationParameters, client: Client) {
  checkRequestObject(parameters)
  checkLengths(parameters)
  checkResponseType(parameters)
  const scopes = grantOpenIdScopes(parameters, client)
  const codeChallenge = checkCodeChallenge(parameters, client)
  const isSilent = checkPrompt(parameters)
  return {
    /** The scopes that the user can consent to. */
    scopes,
    /** The PKCE challenge; undefined if a client may leave it out, and did. */
    codeChallenge,
    /** Whether the answer must not wait for the user (`prompt=none`). */
    isSilent,
    maxSignInAgeSeconds: maxSignInAge(parameters, isSilent),
    /** The only user to whom tokens may be issued (OpenID Connect Core §3.1.2.2); undefined if any may. */
    userId: (await checkIdTokenHint(parameters))?.userId,
  }
}

/** Maximum lengths of some parameters, in characters. */
const maxLengths: Partial<Record<string, number>> = { nonce: 1024, state: 4096, id_token_hint: 8192 }
const maxLengthOfOthers = 2048

/**
 * Rejects parameters that are too long. The nonce is copied into device_tokens, the state into redirect URLs.
 */
export function checkLengths(parameters: Partial<AuthorizationParameters>): void {
  for (const [name, value = ''] of Object.entries(parameters)) {
    const max = maxLengths[name] ?? maxLengthOfOthers
    if (countCharacters(value) > max) throw new AuthorizationError(name, `must be at most ${max} characters`)
  }
}

/** Rejects request objects, which are not supported and must not be ignored (OpenID Connect Core §6). */
function checkRequestObject({ request, request_uri }: AuthorizationParameters): void {
  if (request !== undefined)
    throw new AuthorizationError('request', 'is not supported', 'request_not_supported')
  if (request_uri !== undefined)
    throw new AuthorizationError('request_uri', 'is not supported', 'request_uri_not_supported')
}

/** Accepts only the response type `code`, returned in the query (RFC 6749 §3.1.1, RFC 9700 §2.1.2). */
function checkResponseType({ response_type, response_mode }: AuthorizationParameters): void {
  if (response_type === undefined) throw new AuthorizationError('response_type', 'is required')
  if (response_type !== 'code')
    throw new AuthorizationError('response_type', 'is not supported', 'unsupported_response_type')
  if (response_mode !== undefined && response_mode !== 'query')
    throw new AuthorizationError('response_mode', 'is not supported')
}

/**
 * Grants the requested scopes that the client may have; ignores all others (OpenID Connect Core §3.1.2.1).
 * The token response names the granted ones (RFC 6749 §3.3). Throws `invalid_scope` if no scope is left.
 */
export function grantScopes(scope: string | undefined, client: Pick<Client, 'scopes'>): Scope[] {
  const requested = new Set((scope ?? '').split(' '))
  const granted = knownScopes.filter((name) => client.scopes.includes(name) && requested.has(name))
  if (granted.length === 0)
    throw new AuthorizationError('scope', 'holds none that may be granted', 'invalid_scope')
  return granted
}

/** Grants an authorization request's scopes, which must include `openid` (OpenID Connect Core §3.1.2.1). */
function grantOpenIdScopes({ scope }: AuthorizationParameters, client: Client): Scope[] {
  const granted = grantScopes(scope, client)
  if (granted.includes('openid')) return granted
  throw new AuthorizationError('scope', 'must hold openid, which the client must be allowed', 'invalid_scope')
}

/** Form of an S256 challenge: base64url of a SHA-256. */
const s256Challenge = /^[A-Za-z0-9_-]{43}$/

/**
 * Checks and returns the PKCE challenge (RFC 7636 §4.3 and §4.4.1, RFC 9700 §2.1.1). The method S256 must be
 * stated, because an omitted method means `plain`. A client that may leave the challenge out sends a nonce
 * instead, which also keeps stolen codes out of its sessions, unless it is registered with `off` (see Pkce).
 */
function checkCodeChallenge(
  { code_challenge, code_challenge_method, nonce }: AuthorizationParameters,
  { pkce }: Client,
): string | undefined {
  if (pkce !== 'required' && code_challenge === undefined && code_challenge_method === undefined) {
    if (pkce === 'optional' && nonce === undefined)
      throw new AuthorizationError('nonce', 'is required without a code_challenge')
    return undefined
  }
  if (code_challenge === undefined) throw new AuthorizationError('code_challenge', 'is required')
  if (code_challenge_method !== 'S256') throw new AuthorizationError('code_challenge_method', 'must be S256')
  if (!s256Challenge.test(code_challenge))
    throw new AuthorizationError('code_challenge', 'must be the base64url of a SHA-256')
  return code_challenge
}

const promptsOf = ({ prompt }: AuthorizationParameters): string[] => prompt?.split(' ') ?? []

/** Whether `prompt` is `none`, which must stand alone (OpenID Connect Core §3.1.2.1). */
function checkPrompt(parameters: AuthorizationParameters): boolean {
  const prompts = promptsOf(parameters)
  if (!prompts.includes('none')) return false
  if (prompts.length > 1) throw new AuthorizationError('prompt', 'must not hold none beside others')
  return true
}

/**
 * After a sign-in that the request demands, the user has this many seconds to read what the app asks for, and
 * to decide.
 */
const maxDecisionSeconds = 300

/**
 * Maximum age of the sign-in at the user's decision, in seconds, from `prompt=login` and `max_age`; Infinity
 * if neither is sent. Throws AuthorizationError if `max_age` is no number of seconds.
 */
function maxSignInAge(parameters: AuthorizationParameters, isSilent: boolean): number {
  const { max_age } = parameters
  if (max_age !== undefined && !/^\d{1,12}$/.test(max_age))
    throw new AuthorizationError('max_age', 'must be a whole number of seconds')
  const maxAge = max_age === undefined ? Infinity : Number(max_age)
  if (isSilent) return maxAge
  // `prompt=login` means the same as `max_age=0` (OpenID Connect Core §3.1.2.1).
  return (promptsOf(parameters).includes('login') ? 0 : maxAge) + maxDecisionSeconds
}

/** Whether the sign-in of the caller's session is older than this. */
export const isSignInOlder = (
  { authenticatedAt }: Pick<Caller, 'authenticatedAt'>,
  maxSeconds: number,
): boolean => Date.now() - authenticatedAt > maxSeconds * 1000

/**
 * The failure for a sign-in that is too old. The challenge of RFC 9470 §3 tells the authorization page that
 * the user has to sign in again.
 */
export const signInTooOld = (maxSeconds: number): Failure =>
  new Failure('unauthenticated', {
    headers: {
      'www-authenticate': `Bearer error="insufficient_user_authentication", max_age="${maxSeconds}"`,
    },
  })

/** Reads the ID Token hint of a request. Throws AuthorizationError if the token is none of ours. */
export async function checkIdTokenHint({
  id_token_hint,
}: Pick<AuthorizationParameters, 'id_token_hint'>): Promise<IdTokenHint | undefined> {
  if (id_token_hint === undefined) return undefined
  const hint = await readIdTokenHint(id_token_hint)
  if (hint === undefined)
    throw new AuthorizationError('id_token_hint', 'is not a device_token of this service')
  return hint
}
