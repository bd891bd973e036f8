import * as oidc from 'openid-client'
import { expect, test } from 'vitest'
import { followAuthorization } from '../support/browser.ts'
import { createClient, createSession, type TestClient } from '../support/oauth-clients.ts'
import { expectRefused, stack } from '../support/oauth.ts'

const secret = 'a long secret: with % + & = / and a space'
const session = await createSession()
const publicClient = await createClient({ redirectUris: ['http://127.0.0.1:4000/callback'] })
const confidential = await createClient({ secret, redirectUris: ['https://client.example/cb'] })

/** Runs discovery as the library's documentation shows it. */
const discover = (client: TestClient, authentication: oidc.ClientAuth): Promise<oidc.Configuration> =>
  oidc.discovery(new URL(stack.base_url), client.clientId, client.secret, authentication, {
    // Allows plain http for the local stack, which has no TLS.
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the deprecation only warns of plain http
    execute: [oidc.allowInsecureRequests],
  })

/** Prepares a sign-in as the library documents it. Returns its URL, and what to check in the answer. */
async function begin(client: TestClient, authentication: oidc.ClientAuth, changes = {}) {
  const config = await discover(client, authentication)
  const [pkceCodeVerifier, expectedState] = [oidc.randomPKCECodeVerifier(), oidc.randomState()]
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: client.redirectUri,
    scope: 'openid',
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    ...changes,
  })
  return { config, url, checks: { pkceCodeVerifier, expectedState } }
}

test.each([
  ['a public client', () => [publicClient, oidc.None()] as const],
  [
    'a confidential client by client_secret_basic',
    () => [confidential, oidc.ClientSecretBasic(secret)] as const,
  ],
  [
    'a confidential client by client_secret_post',
    () => [confidential, oidc.ClientSecretPost(secret)] as const,
  ],
])('unmodified openid-client completes the authorization code flow as %s', async (_kind, choose) => {
  const [client, authentication] = choose()
  const nonce = oidc.randomNonce()
  const changes = { scope: 'openid email profile', nonce }
  const { config, url, checks } = await begin(client, authentication, changes)
  const answer = await followAuthorization(url, session)

  const expected = { ...checks, expectedNonce: nonce, idTokenExpected: true, maxAge: 3600 }
  const tokens = await oidc.authorizationCodeGrant(config, answer, expected)
  const claims = tokens.claims()
  expect(claims).toMatchObject({ sub: String(session.userId), aud: client.clientId, email: session.email })
  expect(tokens.scope).toBe('openid profile email')
  expect(tokens.expiresIn()).toBeGreaterThan(0)

  const userinfo = await oidc.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '')
  expect(userinfo).toMatchObject({ email: session.email, email_verified: true, name: session.nickname })

  await oidc.tokenRevocation(config, tokens.access_token)
  await expectRefused(tokens.access_token)
  await expect(oidc.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '')).rejects.toThrow()
})

test.each([
  ['a denial by the user', {}, false, 'access_denied'],
  ['an error of the authorization endpoint', { scope: 'email' }, true, 'invalid_scope'],
])('openid-client reports %s', async (_what, changes, approved, error) => {
  const { config, url, checks } = await begin(publicClient, oidc.None(), changes)
  const answer = await followAuthorization(url, session, { approved })
  await expect(oidc.authorizationCodeGrant(config, answer, checks)).rejects.toMatchObject({ error })
})

test('openid-client reports the WWW-Authenticate challenge after a wrong client secret', async () => {
  const { config, url, checks } = await begin(confidential, oidc.ClientSecretBasic(`${secret}.`))
  const exchange = oidc.authorizationCodeGrant(config, await followAuthorization(url, session), checks)
  await expect(exchange).rejects.toMatchObject({ code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE' })
})
