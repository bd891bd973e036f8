import * as oauth from 'oauth4webapi'

/** The demo application, which is a public client: PKCE is all that it proves itself by. */
const client: oauth.Client = { client_id: 'demo-app' }
// eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated to stand out, not to go away: a laptop has no TLS
const options = { [oauth.allowInsecureRequests]: true }
const scope = 'openid profile email account.read community.read community.write dashboard.read deposit.read'

/** What the code flow gave. It ends with the browser's tab. */
export interface Session {
  accessToken: string
  deviceToken: string
  claims: oauth.IDToken
}

interface Attempt {
  verifier: string
  state: string
  nonce: string
}

const attemptKey = 'sign-in-attempt'
const sessionKey = 'session'

/** The path that the authorization page sends the user back to. */
export const callbackPath = '/_local/callback'
const redirectUri = (issuer: string): string => issuer + callbackPath

/** Reads the discovery document of the service. */
export async function discover(issuer: string): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer)
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options))
}

/** Sends the user to the authorization page. */
export async function beginSignIn(server: oauth.AuthorizationServer): Promise<void> {
  const attempt: Attempt = {
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
  }
  sessionStorage.setItem(attemptKey, JSON.stringify(attempt))
  const url = new URL(server.authorization_endpoint ?? '')
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri(server.issuer),
    scope,
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: 'S256',
  }).toString()
  location.assign(url)
}

/** Takes the answer out of the address and exchanges its code. Throws where the answer is an error. */
export async function finishSignIn(server: oauth.AuthorizationServer): Promise<Session> {
  const stored = sessionStorage.getItem(attemptKey)
  if (stored === null) throw new Error('This tab has not begun to sign in.')
  sessionStorage.removeItem(attemptKey)
  const { verifier, state, nonce } = JSON.parse(stored) as Attempt
  const answer = oauth.validateAuthResponse(server, client, new URL(location.href), state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    answer,
    redirectUri(server.issuer),
    verifier,
    options,
  )
  const expected = { expectedNonce: nonce, requireIdToken: true }
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, expected)
  const claims = oauth.getValidatedIdTokenClaims(tokens)
  if (claims === undefined || tokens.id_token === undefined) throw new Error('There is no device_token.')
  const session = { accessToken: tokens.access_token, deviceToken: tokens.id_token, claims }
  sessionStorage.setItem(sessionKey, JSON.stringify(session))
  return session
}

/** The session of this tab, if it has one that has not expired. */
export function readSession(): Session | undefined {
  const session = JSON.parse(sessionStorage.getItem(sessionKey) ?? 'null') as Session | null
  return session !== null && session.claims.exp * 1000 > Date.now() ? session : undefined
}

export const forgetSession = (): void => sessionStorage.removeItem(sessionKey)

/** Ends the access_token on the service too (RFC 7009). */
export async function signOut(server: oauth.AuthorizationServer, { accessToken }: Session): Promise<void> {
  forgetSession()
  const response = await oauth.revocationRequest(server, client, oauth.None(), accessToken, options)
  await oauth.processRevocationResponse(response)
}
