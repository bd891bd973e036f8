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
  'request',
  'request_uri',
] as const

/** An authorization request from the page's URL, not yet checked. Anyone may have written the URL. */
export interface SentRequest {
  parameters: Record<string, string>
  /** The host of the redirect URI, or the words “an app on this device”, for the user to read. */
  destination: string
  /** Email address that the app expects (`login_hint`, OpenID Connect Core §3.1.2.1). */
  loginHint: string
}

/**
 * An authorization request that the service has checked, with the app's name and scopes as the service
 * returned them.
 */
export interface AuthorizationRequest extends SentRequest {
  /** The app's registered name. */
  clientName: string
  /** The scopes that the app gets if the user consents. */
  scopes: string[]
}

/** Reads the authorization request from a query string; undefined if there is none or it is malformed. */
export function readAuthorizationRequest(query: string): SentRequest | undefined {
  const sent = new URLSearchParams(query)
  const parameters: Record<string, string> = {}
  for (const name of parameterNames) {
    const values = sent.getAll(name)
    if (values.length > 1) return undefined
    if (values[0]) parameters[name] = values[0]
  }
  const { client_id: clientId, redirect_uri: redirectUri } = parameters
  if (clientId === undefined || redirectUri === undefined || !URL.canParse(redirectUri)) return undefined
  return {
    parameters,
    destination: describeDestination(new URL(redirectUri)),
    loginHint: sent.get('login_hint') ?? '',
  }
}

function describeDestination({ protocol, hostname, host }: URL): string {
  if (['localhost', '127.0.0.1', '[::1]'].includes(hostname)) return `an app on this device (${host})`
  return protocol === 'https:' || protocol === 'http:' ? host : 'an app on this device'
}
