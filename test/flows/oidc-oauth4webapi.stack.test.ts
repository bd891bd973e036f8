import { createRemoteJWKSet, jwtVerify } from 'jose'
import * as oauth from 'oauth4webapi'
import { expect, test } from 'vitest'
import { followAuthorization } from '../support/browser.ts'
import { createClient, createSession } from '../support/oauth-clients.ts'
import { expectRefused, stack } from '../support/oauth.ts'

// Allows plain http for the local stack; oauth4webapi marks the option as deprecated so that nobody leaves
// it in by accident.
// eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated to stand out, not to go away
const insecure = { [oauth.allowInsecureRequests]: true }

test('unmodified oauth4webapi completes the authorization code flow, and jose verifies the device_token by the JWKS', async () => {
  const session = await createSession()
  const { clientId, redirectUri } = await createClient({
    redirectUris: ['http://localhost/callback?tenant=1'],
  })
  const issuer = new URL(stack.base_url)
  const server = await oauth
    .discoveryRequest(issuer, { ...insecure, algorithm: 'oidc' })
    .then((response) => oauth.processDiscoveryResponse(issuer, response))
  const client: oauth.Client = { client_id: clientId }
  const authentication = oauth.None()

  // The redirect URI's port is free to choose for a native app (RFC 8252 §7.3).
  const redirect_uri = redirectUri.replace('localhost', 'localhost:53682')
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const nonce = oauth.generateRandomNonce()
  const url = new URL(server.authorization_endpoint ?? '')
  url.search = new URLSearchParams({
    client_id: clientId,
    redirect_uri,
    response_type: 'code',
    scope: 'openid email',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  }).toString()
  const answer = await followAuthorization(url, session)

  const parameters = oauth.validateAuthResponse(server, client, answer, state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    parameters,
    redirect_uri,
    verifier,
    insecure,
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(server, response, insecure)
  const claims = oauth.getValidatedIdTokenClaims(tokens)
  expect(claims).toMatchObject({ sub: String(session.userId), email: session.email })

  const keys = createRemoteJWKSet(new URL(server.jwks_uri ?? ''))
  const { payload } = await jwtVerify(String(tokens.id_token), keys, {
    issuer: issuer.href.replace(/\/$/, ''),
    audience: clientId,
  })
  expect(payload.sub).toBe(String(session.userId))

  const userinfo = await oauth
    .userInfoRequest(server, client, tokens.access_token, insecure)
    .then((answered) => oauth.processUserInfoResponse(server, client, claims?.sub ?? '', answered))
  expect(userinfo).toMatchObject({ email: session.email, email_verified: true })

  const revoked = await oauth.revocationRequest(server, client, authentication, tokens.access_token, insecure)
  await oauth.processRevocationResponse(revoked)
  await expectRefused(tokens.access_token)
})
