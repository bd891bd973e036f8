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
] as const

/** The app's authorization request, from the query string of the page's URL. */
export interface AuthorizationRequest {
  /** Parameters of the authorization request, by name. */
  parameters: Record<string, string>
  clientId: string
  scopes: string[]
  /**
   * Where the user will be sent, in words for the user: the host of the redirect URI, or an app on this
   * device.
   */
  destination: string
  /** Email address that the app expects (`login_hint`, OpenID Connect Core §3.1.2.1). */
  loginHint: string
}

/**
 * Reads the authorization request from a query string; undefined if it is missing or incomplete. The page
 * only displays the request and never redirects to its `redirect_uri`, until the consent endpoint has
 * validated it.
 */
export function readAuthorizationRequest(query: string): AuthorizationRequest | undefined {
  const sent = new URLSearchParams(query)
  const parameters: Record<string, string> = {}
  for (const name of parameterNames) {
    const values = sent.getAll(name)
    if (values.length > 1) return undefined
    if (values[0]) parameters[name] = values[0]
  }
  const { client_id: clientId, redirect_uri: redirectUri, scope } = parameters
  if (clientId === undefined || redirectUri === undefined || !URL.canParse(redirectUri)) return undefined
  return {
    parameters,
    clientId,
    scopes: [...new Set((scope ?? '').split(' ').filter((name) => name !== ''))],
    destination: describeDestination(new URL(redirectUri)),
    loginHint: sent.get('login_hint') ?? '',
  }
}

function describeDestination({ protocol, hostname, host }: URL): string {
  if (['localhost', '127.0.0.1', '[::1]'].includes(hostname)) return `an app on this device (${host})`
  return protocol === 'https:' || protocol === 'http:' ? host : 'an app on this device'
}
