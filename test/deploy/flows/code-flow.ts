import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import * as oidc from 'openid-client'
import * as v from 'valibot'
import { requireEnv } from '../../../shared/env.ts'
import { putEvents } from '../../support/put-event.ts'
import { call, eventually } from './call.ts'
import type { SignedIn } from './sign-in.ts'

const Consent = v.object({ redirect_to: v.string() })

/**
 * Signs the user in to a third-party application with unmodified openid-client: discovery, authorization code
 * with PKCE, consent, tokens, userinfo and revocation.
 */
export async function signInToClient(user: SignedIn): Promise<void> {
  const clientId = `client-${randomUUID()}`
  const redirectUri = 'https://client.example/callback'
  await putEvents('client.registered', [
    {
      client_id: clientId,
      name: 'Deployment test',
      redirect_uris: [redirectUri],
      scopes: ['openid', 'profile', 'email'],
      updated_at: Date.now(),
    },
  ])
  const issuer = new URL(requireEnv('BASE_URL'))
  const config = await oidc.discovery(issuer, clientId, undefined, oidc.None(), {
    // Allows plain http, because some emulators have no TLS.
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the deprecation only warns of plain http
    execute: issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
  })
  const verifier = oidc.randomPKCECodeVerifier()
  const state = oidc.randomState()
  const nonce = oidc.randomNonce()
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid profile',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  })
  const page = await eventually(async () => {
    const response = await fetch(url, { redirect: 'manual' })
    assert.equal(response.status, 302, `authorize was answered ${await response.text()}`)
    return new URL(response.headers.get('location') ?? '')
  })
  assert.equal(page.origin, new URL(requireEnv('AUTH_URL')).origin, 'authorize leads to another page')
  const consent = await call('/oauth2/authorize/consent', {
    token: user.token,
    body: { ...Object.fromEntries(page.searchParams), approved: true },
  })
  assert.equal(consent.code, 0, `consent was answered ${consent.text}`)
  const tokens = await oidc.authorizationCodeGrant(
    config,
    new URL(v.parse(Consent, consent.data).redirect_to),
    { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
  )
  assert.equal(tokens.claims()?.sub, String(user.userId), 'the id_token names another user')
  const { sub } = await oidc.fetchUserInfo(config, tokens.access_token, String(user.userId))
  assert.equal(sub, String(user.userId))
  await oidc.tokenRevocation(config, tokens.access_token)
  await assert.rejects(oidc.fetchUserInfo(config, tokens.access_token, sub), 'a revoked token is still valid')
}
