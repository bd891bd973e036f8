import { describe, expect, test } from 'vitest'
import { authorizationRequest, createClient } from '../../support/oauth-clients.ts'
import { getAuthorize, stack } from '../../support/oauth.ts'

const client = await createClient({
  redirectUris: [
    'https://client.example/callback',
    'https://client.example/with-query?tenant=1&empty=',
    'http://127.0.0.1:4000/callback',
    'http://[::1]/callback',
    'http://localhost:4000/callback?a=b',
    'com.example.app:/callback',
  ],
  scopes: ['openid', 'email', 'account.read'],
})

const request = (overrides: Record<string, string | undefined> = {}) =>
  authorizationRequest(client, { scope: 'openid email', ...overrides })

function location(response: Response): { to: string; query: URLSearchParams } {
  const [to = '', query = ''] = (response.headers.get('location') ?? '').split(/\?(.*)/s)
  return { to, query: new URLSearchParams(query) }
}

test('a valid authorization request redirects to the authorization page with every parameter as sent', async () => {
  const sent = `${new URLSearchParams(request()).toString()}&ui_locales=de%20en+fr&x=%C3%A9%22%3C&flag`
  const response = await getRaw(sent)
  expect(response.status).toBe(302)
  expect(response.headers.get('location')).toBe(`${stack.auth_url}?${sent}`)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await response.text()).toBe('')
})

test.each([
  'https://client.example/callback',
  'https://client.example/with-query?tenant=1&empty=',
  'http://127.0.0.1:4000/callback',
  'http://127.0.0.1:61023/callback',
  'http://127.0.0.1/callback',
  'http://[::1]:5000/callback',
  'http://localhost:1/callback?a=b',
  'com.example.app:/callback',
])('an authorization request with the redirect URI %s is accepted', async (redirect_uri) => {
  const response = await getAuthorize(request({ redirect_uri }))
  expect(location(response).to).toBe(stack.auth_url)
})

test.each([
  ['no client', { client_id: undefined }],
  ['an empty client', { client_id: '' }],
  ['an unknown client', { client_id: 'nobody' }],
  ['a client_id of 3,000 characters', { client_id: 'a'.repeat(3000) }],
  ['the service’s own client, which has no redirect URI', { client_id: 'first-party' }],
  ['no redirect URI', { redirect_uri: undefined }],
  ['an empty redirect URI', { redirect_uri: '' }],
  ['another path', { redirect_uri: 'https://client.example/callback2' }],
  ['a longer path', { redirect_uri: 'https://client.example/callback/' }],
  ['a path that leads to the registered one', { redirect_uri: 'https://client.example/x/../callback' }],
  ['another host', { redirect_uri: 'https://client.example.evil.example/callback' }],
  ['another scheme', { redirect_uri: 'http://client.example/callback' }],
  ['an added query', { redirect_uri: 'https://client.example/callback?a=b' }],
  ['a missing query', { redirect_uri: 'https://client.example/with-query' }],
  ['the redirect URI in another case', { redirect_uri: 'https://CLIENT.example/callback' }],
  ['a port where none was registered', { redirect_uri: 'https://client.example:444/callback' }],
  ['a fragment', { redirect_uri: 'https://client.example/callback#x' }],
  ['another loopback host', { redirect_uri: 'http://localhost:4000/callback' }],
  ['another scheme on a loopback host', { redirect_uri: 'https://127.0.0.1:4000/callback' }],
  ['another path on a loopback host', { redirect_uri: 'http://127.0.0.1:4000/other' }],
  ['an invalid loopback port', { redirect_uri: 'http://127.0.0.1:99999/callback' }],
  ['a host after the loopback port', { redirect_uri: 'http://127.0.0.1:4000@evil.example/callback' }],
  ['a line break', { redirect_uri: 'https://client.example/callback\r\nset-cookie: a=b' }],
])('an authorization request with %s is answered 400 and not redirected', async (_why, overrides) => {
  const response = await getAuthorize(request(overrides))
  expect(response.status).toBe(400)
  expect(response.headers.get('location')).toBeNull()
  expect(await response.json()).toMatchObject({ code: 40002, data: null })
})

test.each(['client_id', 'redirect_uri'])(
  'an authorization request with a repeated %s is answered 400 and not redirected',
  async (name) => {
    const parameters = new URLSearchParams(request())
    parameters.append(name, parameters.get(name) ?? '')
    const response = await getRaw(parameters.toString())
    expect(response.status).toBe(400)
    expect(response.headers.get('location')).toBeNull()
    expect(await response.json()).toMatchObject({ code: 40002 })
  },
)

describe('an authorization request with a bad parameter', () => {
  test.each([
    ['no response type', 'invalid_request', { response_type: undefined }],
    ['an implicit response type', 'unsupported_response_type', { response_type: 'token' }],
    ['a hybrid response type', 'unsupported_response_type', { response_type: 'code id_token' }],
    ['a response mode other than query', 'invalid_request', { response_mode: 'fragment' }],
    ['no scope', 'invalid_scope', { scope: undefined }],
    ['a scope without openid', 'invalid_scope', { scope: 'email' }],
    ['unknown scopes alone', 'invalid_scope', { scope: 'offline_access phone' }],
    ['openid in another case', 'invalid_scope', { scope: 'OpenID email' }],
    ['a scope of 2,049 characters', 'invalid_request', { scope: `openid ${'a'.repeat(2042)}` }],
    ['a nonce of 1,025 characters', 'invalid_request', { nonce: 'a'.repeat(1025) }],
    ['a prompt of 2,049 characters', 'invalid_request', { prompt: 'a'.repeat(2049) }],
    ['a long request object', 'request_not_supported', { request: 'a'.repeat(4000) }],
    ['a max_age that is no number', 'invalid_request', { max_age: 'soon' }],
    ['a negative max_age', 'invalid_request', { max_age: '-1' }],
    ['no challenge', 'invalid_request', { code_challenge: undefined }],
    ['no challenge method, which means plain', 'invalid_request', { code_challenge_method: undefined }],
    ['the challenge method plain', 'invalid_request', { code_challenge_method: 'plain' }],
    ['the challenge method in lower case', 'invalid_request', { code_challenge_method: 's256' }],
    ['a short challenge', 'invalid_request', { code_challenge: 'a'.repeat(42) }],
    ['a long challenge', 'invalid_request', { code_challenge: 'a'.repeat(44) }],
    ['a challenge of other characters', 'invalid_request', { code_challenge: '+'.repeat(43) }],
    ['a request object', 'request_not_supported', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['a request object by URI', 'request_uri_not_supported', { request_uri: 'https://client.example/r' }],
    ['prompt=none', 'login_required', { prompt: 'none' }],
    ['prompt=none together with login', 'invalid_request', { prompt: 'none login' }],
  ])(
    'an authorization request with %s redirects to the client with error, state and iss',
    async (_why, error, overrides) => {
      const response = await getAuthorize(request(overrides))
      const { to, query } = location(response)
      expect(response.status).toBe(302)
      expect(to).toBe('https://client.example/callback')
      expect(query.get('error')).toBe(error)
      expect(query.get('state')).toBe('af0ifjsldkj')
      expect(query.get('iss')).toBe(stack.base_url)
      expect(query.get('error_description')).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
      expect(query.get('code')).toBeNull()
    },
  )

  test('an authorization request with a repeated scope parameter redirects to the client with invalid_request', async () => {
    const { query } = location(await getRaw(`${new URLSearchParams(request()).toString()}&scope=openid`))
    expect(query.get('error')).toBe('invalid_request')
    expect(query.get('state')).toBe('af0ifjsldkj')
  })

  test('an authorization request with two state parameters is answered with an error that has no state', async () => {
    const { query } = location(await getRaw(`${new URLSearchParams(request()).toString()}&state=b`))
    expect(query.get('error')).toBe('invalid_request')
    expect(query.has('state')).toBe(false)
  })

  test.each([
    ' +%&=#?/\\"\'<script>é漢字😀',
    'a'.repeat(4000),
    '\r\nset-cookie: a=b',
    '{"json":[1,2]}',
    'percent%20%zz',
  ])('an authorization error returns the state unchanged: %j', async (state) => {
    const response = await getAuthorize(request({ response_type: undefined, state }))
    expect(location(response).query.get('state')).toBe(state)
    expect(response.headers.get('location')).toMatch(/^[\x21-\x7e]+$/)
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  test('an authorization request with a state of 4,097 characters is refused, and the error returns the whole state', async () => {
    const state = 'a'.repeat(4097)
    const { to, query } = location(await getAuthorize(request({ state })))
    expect(to).toBe('https://client.example/callback')
    expect(query.get('error')).toBe('invalid_request')
    expect(query.get('error_description')).toBe('state must be at most 4096 characters')
    expect(query.get('state')).toBe(state)
  })

  test('an authorization request with a nonce of 1,024 and a state of 4,096 characters is accepted', async () => {
    const response = await getAuthorize(request({ nonce: 'a'.repeat(1024), state: 'a'.repeat(4096) }))
    expect(location(response).to).toBe(stack.auth_url)
  })

  test('an authorization error keeps the query of the redirect URI', async () => {
    const redirect_uri = 'https://client.example/with-query?tenant=1&empty='
    const response = await getAuthorize(request({ response_type: undefined, redirect_uri }))
    expect(response.headers.get('location')).toMatch(
      /^https:\/\/client\.example\/with-query\?tenant=1&empty=&error=invalid_request&/,
    )
  })
})

const getRaw = (query: string): Promise<Response> =>
  fetch(`${stack.base_url}/oauth2/authorize?${query}`, { redirect: 'manual' })
