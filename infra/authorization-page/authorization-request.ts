import { readPayload } from './jwt.ts'

/** The parameters of an authorization request that this page sends to the consent endpoint. */
const parameterNames = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
  'prompt',
  'max_age',
  'id_token_hint',
  'login_hint',
  'acr_values',
  'request',
  'request_uri',
] as const

/** An authorization request from the page's URL, not yet checked. Anyone may have written the URL. */
export interface SentRequest {
  parameters: Record<string, string>
  clientId: string
  /** The host of the redirect URI, or the words “an app on this device”, for the user to read. */
  destination: string
  /** Email address that the app expects (`login_hint`, OpenID Connect Core §3.1.2.1). */
  loginHint: string
  /** The values of `prompt`. */
  prompts: string[]
  /** Maximum age of a sign-in that was there before, in seconds; Infinity if the app sets none. */
  maxAge: number
  /**
   * The user that the app expects (`id_token_hint`), as the hint says. The service verifies the hint; this
   * page only offers the account.
   */
  hint: { userId: string; email: string } | undefined
}

/**
 * An authorization request that the service has checked, with what the service knows of the app.
 */
export interface AuthorizationRequest extends SentRequest {
  /** The app's registered name. */
  clientName: string
  /** The scopes that the app gets if the user consents. */
  scopes: string[]
  /** Whether what the user has allowed this app once needs no second click. */
  remembersConsent: boolean
  /** With `prompt=none`, which must not wait for the user: the URL to open for each error. */
  errorUrls: Record<'login_required' | 'consent_required' | 'interaction_required', string> | undefined
}

/** Reads the authorization request from a query string; undefined if there is none or it is malformed. */
export function readAuthorizationRequest(query: string): SentRequest | undefined {
  const parameters = readOnce(query, parameterNames)
  if (parameters === undefined) return undefined
  const { client_id: clientId, redirect_uri: redirectUri } = parameters
  if (clientId === undefined || redirectUri === undefined || !URL.canParse(redirectUri)) return undefined
  const { login_hint: loginHint = '', prompt = '', max_age: maxAge, id_token_hint: hint } = parameters
  return {
    parameters,
    clientId,
    destination: describeDestination(new URL(redirectUri)),
    loginHint,
    prompts: prompt.split(' '),
    maxAge: maxAge === undefined ? Infinity : Number(maxAge),
    hint: hint === undefined ? undefined : readHint(hint),
  }
}

/** Reads parameters from a query string. Leaves out empty ones; undefined if one of them is repeated. */
export function readOnce(query: string, names: readonly string[]): Record<string, string> | undefined {
  const sent = new URLSearchParams(query)
  const parameters: Record<string, string> = {}
  for (const name of names) {
    const values = sent.getAll(name)
    if (values.length > 1) return undefined
    if (values[0]) parameters[name] = values[0]
  }
  return parameters
}

/** Reads the user of a hint. The service refuses a text that is no token of its own. */
function readHint(token: string): SentRequest['hint'] {
  const { sub: userId = '', email = '' } = readPayload(token) ?? {}
  return { userId: String(userId), email: String(email) }
}

function describeDestination({ protocol, hostname, host }: URL): string {
  if (['localhost', '127.0.0.1', '[::1]'].includes(hostname)) return `an app on this device (${host})`
  return protocol === 'https:' || protocol === 'http:' ? host : 'an app on this device'
}
