import { decodeProtectedHeader } from 'jose'
import { describe, expect, test } from 'vitest'
import { followAuthorization } from '../support/browser.ts'
import { authorizationRequest, createClient, createSession, pkce } from '../support/oauth-clients.ts'
import { address, obtainCode, postForm, stack } from '../support/oauth.ts'

const client = await createClient()
const session = await createSession()
const response = await fetch(address('/.well-known/openid-configuration'))
const discovery = (await response.json()) as Record<string, unknown>

const authorizationUrl = (parameters: Record<string, string>): URL =>
  new URL(`${String(discovery['authorization_endpoint'])}?${new URLSearchParams(parameters).toString()}`)

describe('Config OP: the discovery document (OpenID Connect Discovery §3 and §4)', () => {
  test('the discovery document is JSON at the issuer’s well-known URL, and names that issuer', async () => {
    const response = await fetch(address('/.well-known/openid-configuration'))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json(;|$)/)
    expect(discovery['issuer']).toBe(stack.base_url)
    expect(String(discovery['issuer'])).not.toMatch(/[?#]|\/$/)
  })

  test('the discovery document lists the supported scopes, response types, grants and algorithms', () => {
    expect(discovery).toMatchObject({
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    })
    expect(discovery['scopes_supported']).toEqual(expect.arrayContaining(['openid', 'profile', 'email']))
    expect([...(discovery['token_endpoint_auth_methods_supported'] as string[])].sort()).toEqual([
      'client_secret_basic',
      'client_secret_post',
      'none',
    ])
    expect(discovery['claims_supported']).toEqual(
      expect.arrayContaining(['sub', 'iss', 'aud', 'exp', 'iat', 'auth_time', 'email', 'name']),
    )
    // Clients assume true if this member is missing (OpenID Connect Discovery §3).
    expect(discovery['request_uri_parameter_supported']).toBe(false)
  })

  test.each(['/.well-known/openid-configuration', '/.well-known/jwks.json'])(
    'HEAD on %s answers as GET does, without a body (RFC 9110 §9.3.2), 304 included',
    async (path) => {
      const [got, asked] = [await fetch(address(path)), await fetch(address(path), { method: 'HEAD' })]
      expect(asked.status).toBe(200)
      expect(await asked.text()).toBe('')
      for (const name of ['content-type', 'content-length', 'cache-control', 'etag']) {
        expect(asked.headers.get(name)).toBe(got.headers.get(name))
        expect(asked.headers.get(name)).not.toBeNull()
      }
      const etag = got.headers.get('etag') ?? ''
      for (const method of ['GET', 'HEAD']) {
        const current = await fetch(address(path), { method, headers: { 'if-none-match': etag } })
        expect(current.status).toBe(304)
      }
    },
  )

  test('no member of the discovery document has the name of an OAuth parameter', () => {
    for (const name of [
      'error',
      'scope',
      'state',
      'client_id',
      'redirect_uri',
      'access_token',
      'id_token',
      'iss',
    ]) {
      expect(discovery).not.toHaveProperty(name)
    }
  })

  test('the JWKS holds only public RSA signing keys with distinct key ids', async () => {
    const response = await fetch(String(discovery['jwks_uri']))
    const text = await response.text()
    expect(text.length).toBeLessThan(150_000)
    const { keys } = JSON.parse(text) as { keys: Record<string, string>[] }
    expect(keys.length).toBeGreaterThan(0)
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length)
    for (const key of keys) {
      expect(key).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256' })
      expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
    }
    const { exchange } = await obtainCode(client, session)
    const { body } = await postForm('/oauth2/token', exchange)
    const { kid } = decodeProtectedHeader(String(body['id_token']))
    expect(keys.map((key) => key['kid'])).toContain(kid)
  })
})

test.each([
  ['an unknown parameter', { extra: 'foobar' }],
  ['scopes in another order', { scope: 'email openid profile' }],
  ['a scope twice', { scope: 'openid openid  email' }],
  ['acr_values', { acr_values: '1 2' }],
  ['display', { display: 'popup' }],
  ['ui_locales and claims_locales', { ui_locales: 'se', claims_locales: 'se' }],
  ['login_hint', { login_hint: 'somebody@example.com' }],
  ['prompt=login', { prompt: 'login' }],
  ['max_age', { max_age: '15000' }],
  ['scopes of other providers', { scope: 'openid email phone address offline_access' }],
  ['no state', { state: undefined }],
  ['no nonce', { nonce: undefined }],
])('an authorization request succeeds with %s', async (_what, overrides) => {
  const { verifier, challenge } = pkce()
  const request = authorizationRequest(client, { code_challenge: challenge, ...overrides })
  const answer = await followAuthorization(authorizationUrl(request), session)
  expect(answer.searchParams.get('error')).toBeNull()
  expect(answer.searchParams.get('state')).toBe(request['state'] ?? null)
  const { status } = await postForm('/oauth2/token', {
    grant_type: 'authorization_code',
    code: answer.searchParams.get('code') ?? '',
    redirect_uri: client.redirectUri,
    client_id: client.clientId,
    code_verifier: verifier,
  })
  expect(status).toBe(200)
})

test('scopes that the service does not have are ignored, and the token answer says which were granted', async () => {
  const scope = 'openid email phone address offline_access'
  const { exchange } = await obtainCode(client, session, { scope })
  const { status, body } = await postForm('/oauth2/token', exchange)
  expect(status).toBe(200)
  expect(body['scope']).toBe('openid email')
  const limited = await createClient({ scopes: ['openid'] })
  const less = await obtainCode(limited, session, { scope })
  expect((await postForm('/oauth2/token', less.exchange)).body['scope']).toBe('openid')
})
