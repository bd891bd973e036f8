/** The parameters of an authorization request that this page hands on to the consent endpoint. */
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

/** What the app asked for, as it stands in this page's own address. */
export interface AuthorizationRequest {
  /** The parameters that were sent, by name. */
  parameters: Record<string, string>
  clientId: string
  scopes: string[]
  /** Where the answer goes, in words for a person. */
  destination: string
  /** The address that the app expects the user to sign in with (OpenID Connect Core §3.1.2.1). */
  loginHint: string
}

/**
 * Reads the request out of a query string; undefined where it has none, or one that is damaged. What it says is
 * checked by the service when the user consents: until then it is only shown, and never followed.
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
