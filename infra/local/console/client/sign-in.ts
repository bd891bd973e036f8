import * as client from 'openid-client'

/** The demo application. It is a public client: it has no secret and uses PKCE. */
const clientId = 'demo-app'
const scope = 'openid profile email account.read community.read community.write dashboard.read deposit.read'

/** The tokens of a sign-in, kept until the browser tab is closed. */
export interface Session {
  accessToken: string
  deviceToken: string
  claims: client.IDToken
}

interface Attempt {
  verifier: string
  state: string
  nonce: string
}

const attemptKey = 'sign-in-attempt'
const sessionKey = 'session'

/** Path of the redirect URI, to which the authorization page returns the user. */
export const callbackPath = '/_local/callback'

/** Reads the OpenID discovery document of the service. */
export const discover = (issuer: string): Promise<client.Configuration> =>
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated to stand out: a laptop has no TLS
  client.discovery(new URL(issuer), clientId, {}, client.None(), { execute: [client.allowInsecureRequests] })

/** Starts the code flow: sends the user to the authorization page. */
export async function beginSignIn(config: client.Configuration): Promise<void> {
  const attempt: Attempt = {
    verifier: client.randomPKCECodeVerifier(),
    state: client.randomState(),
    nonce: client.randomNonce(),
  }
  sessionStorage.setItem(attemptKey, JSON.stringify(attempt))
  const { verifier, state, nonce } = attempt
  const parameters = {
    redirect_uri: location.origin + callbackPath,
    scope,
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  location.assign(client.buildAuthorizationUrl(config, parameters))
}

/** Exchanges the code of the authorization response in the URL for tokens. Throws for an error response. */
export async function finishSignIn(config: client.Configuration): Promise<Session> {
  const stored = sessionStorage.getItem(attemptKey)
  if (stored === null) throw new Error('This tab has not begun to sign in.')
  sessionStorage.removeItem(attemptKey)
  const { verifier, state, nonce } = JSON.parse(stored) as Attempt
  const tokens = await client.authorizationCodeGrant(config, new URL(location.href), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (claims === undefined || tokens.id_token === undefined) throw new Error('There is no device_token.')
  const session = { accessToken: tokens.access_token, deviceToken: tokens.id_token, claims }
  sessionStorage.setItem(sessionKey, JSON.stringify(session))
  return session
}

/** Reads the session of this tab; undefined if there is none or it has expired. */
export function readSession(): Session | undefined {
  const session = JSON.parse(sessionStorage.getItem(sessionKey) ?? 'null') as Session | null
  return session !== null && session.claims.exp * 1000 > Date.now() ? session : undefined
}

export const forgetSession = (): void => sessionStorage.removeItem(sessionKey)

/** Signs out: revokes the access_token on the service (RFC 7009). */
export async function signOut(config: client.Configuration, { accessToken }: Session): Promise<void> {
  forgetSession()
  await client.tokenRevocation(config, accessToken)
}
