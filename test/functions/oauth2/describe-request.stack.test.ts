import { expect, test } from 'vitest'
import { authorizationRequest, createClient } from '../../support/oauth-clients.ts'
import { address, stack } from '../../support/oauth.ts'

const client = await createClient({ scopes: ['openid', 'email'] })

async function describeRequest(query: Record<string, string> | string) {
  const path = `/oauth2/authorize/request?${new URLSearchParams(query).toString()}`
  const response = await fetch(address(path))
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const request = (overrides: Record<string, string | undefined> = {}) =>
  authorizationRequest(client, overrides)

test('an authorization request’s description has the registered name and the scopes to be granted', async () => {
  const scope = 'openid email deposit.read offline_access'
  const { status, body } = await describeRequest({ ...request({ scope }), login_hint: 'a', ui_locales: 'de' })
  expect(status).toBe(200)
  expect(body).toEqual({
    code: 0,
    msg: 'success',
    data: { client_name: 'a client of a test', scope: 'openid email', remembers_consent: true },
  })
})

test('the description of a request with prompt=none has the URLs to open if it is not answered', async () => {
  const { status, body } = await describeRequest(request({ prompt: 'none', state: 'a b' }))
  expect(status).toBe(200)
  const urlOf = (error: string) =>
    `${client.redirectUri}?${new URLSearchParams({ error, state: 'a b', iss: stack.base_url }).toString()}`
  expect((body['data'] as Record<string, unknown>)['error_urls']).toEqual({
    login_required: urlOf('login_required'),
    consent_required: urlOf('consent_required'),
    interaction_required: urlOf('interaction_required'),
  })
})

test.each([
  [['https://client.example/a', 'https://client.example/b'], true],
  [['https://client.example/a', 'http://127.0.0.1:4000/callback'], false],
  [['https://client.example/a', 'https://localhost:4000/callback'], false],
  [['com.example.app:/callback'], false],
])(
  'what was allowed is remembered for a client with the redirect URIs %j: %j (RFC 8252 §8.6)',
  async (redirectUris, remembered) => {
    const { body } = await describeRequest(authorizationRequest(await createClient({ redirectUris })))
    expect(body['data']).toMatchObject({ remembers_consent: remembered })
  },
)

test.each([
  ['an unknown client', 40002, { client_id: 'nobody' }],
  ['no client', 40002, { client_id: undefined }],
  ['a redirect URI of somebody else', 40002, { redirect_uri: 'https://attacker.example/callback' }],
  ['no redirect URI', 40002, { redirect_uri: undefined }],
  ['no scope', 40005, { scope: undefined }],
  ['a scope without openid', 40005, { scope: 'email' }],
  ['no challenge', 40001, { code_challenge: undefined }],
  ['another response type', 40001, { response_type: 'token' }],
  ['prompt=none beside others', 40001, { prompt: 'none consent' }],
  ['a hint that is none of our tokens', 40001, { id_token_hint: 'a.b.c' }],
  ['a nonce that is too long', 40001, { nonce: 'n'.repeat(1025) }],
  ['a max_age that is no number', 40001, { max_age: 'soon' }],
])('the endpoint refuses to describe an authorization request with %s', async (_why, code, overrides) => {
  const { status, body } = await describeRequest(request(overrides))
  expect(status).toBe(400)
  expect(body['code']).toBe(code)
})
