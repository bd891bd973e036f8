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
    ['a hint that is no token', 'invalid_request', { id_token_hint: 'hint' }],
    ['a hint of 8,193 characters', 'invalid_request', { id_token_hint: 'a'.repeat(8193) }],
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

  test('a repeated scope parameter redirects to the client with invalid_request', async () => {
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

  test('a state of 4,097 characters is refused with an error that returns all of it', async () => {
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

const getRaw = (query: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${stack.base_url}/oauth2/authorize?${query}`, { redirect: 'manual', headers })

const textOf = (parameters: Record<string, string>): string => new URLSearchParams(parameters).toString()

describe('prompt=none', () => {
  test('prompt=none leads to the authorization page, which knows whether there is a session', async () => {
    expect(location(await getAuthorize(request({ prompt: 'none' }))).to).toBe(stack.auth_url)
  })

  test.each(['iframe', 'frame', 'embed', 'object', 'fencedframe'])(
    'prompt=none in a frame (%s) is answered with login_required at once',
    async (destination) => {
      const { to, query } = location(
        await getRaw(textOf(request({ prompt: 'none' })), { 'sec-fetch-dest': destination }),
      )
      expect(to).toBe('https://client.example/callback')
      expect(query.get('error')).toBe('login_required')
      expect(query.get('state')).toBe('af0ifjsldkj')
    },
  )

  test('another request in a frame, and prompt=none in a window, lead to the authorization page', async () => {
    const framed = await getRaw(textOf(request()), { 'sec-fetch-dest': 'iframe' })
    const topLevel = await getRaw(textOf(request({ prompt: 'none' })), { 'sec-fetch-dest': 'document' })
    for (const response of [framed, topLevel]) expect(location(response).to).toBe(stack.auth_url)
  })
})

describe('an authorization request in a form', () => {
  const postAuthorize = (form: string, headers: Record<string, string> = {}) =>
    fetch(`${stack.base_url}/oauth2/authorize`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: form,
    })

  test('a form is answered as a query is: every parameter as sent goes to the authorization page', async () => {
    const sent = `${textOf(request())}&x=%C3%A9%22%3C&flag`
    const response = await postAuthorize(sent)
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe(`${stack.auth_url}?${sent}`)
  })

  test.each([
    ['a bad scope', () => textOf(request({ scope: 'email' })), 'invalid_scope'],
    ['a repeated scope', () => `${textOf(request())}&scope=openid`, 'invalid_request'],
  ])('a form with %s redirects to the client with %s', async (_what, form, error) => {
    const { to, query } = location(await postAuthorize(form()))
    expect(to).toBe('https://client.example/callback')
    expect(query.get('error')).toBe(error)
  })

  test('a form of an unknown client is answered 400, and prompt=none in a frame with login_required', async () => {
    const unknown = await postAuthorize(textOf(request({ client_id: 'nobody' })))
    expect(unknown.status).toBe(400)
    expect(await unknown.json()).toMatchObject({ code: 40002 })
    const framed = await postAuthorize(textOf(request({ prompt: 'none' })), { 'sec-fetch-dest': 'iframe' })
    expect(location(framed).query.get('error')).toBe('login_required')
  })

  test.each([
    ['a form over 64 KiB', 'a'.repeat(65 * 1024), 413, 41300],
    ['a form that is not UTF-8', Buffer.from([0x61, 0x3d, 0xff]), 400, 40000],
  ])('%s is refused', async (_what, body, status, code) => {
    const response = await postAuthorize(body as string)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ code })
  })
})

describe('a browser whose request names an unknown client or redirect URI gets a page', () => {
  // As Chromium sends it.
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'

  test.each([
    ['no client', { client_id: undefined }, 'The parameter <code>client_id</code> is missing'],
    [
      'an unknown client',
      { client_id: 'no<b>ody' },
      'No app is registered under the <code>client_id</code> <code><bdi>no&#60;b&#62;ody</bdi></code>',
    ],
    ['no redirect URI', { redirect_uri: undefined }, 'The parameter <code>redirect_uri</code> is missing'],
    [
      'another redirect URI',
      { redirect_uri: 'https://client.example/"><script>alert(1)</script>' },
      'The <code>redirect_uri</code> <code><bdi>https://client.example/&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;</bdi></code> is not registered for the app <code><bdi>a client of a test</bdi></code>',
    ],
    [
      'a long redirect URI',
      { redirect_uri: `https://client.example/${'é'.repeat(500)}` },
      'é …</bdi></code> is not registered',
    ],
  ])('the page for a request with %s says so, escaped, without a script', async (_what, overrides, words) => {
    const response = await getRaw(textOf(request(overrides)), { accept })
    expect(response.status).toBe(400)
    expect(response.headers.get('location')).toBeNull()
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    const page = await response.text()
    expect(page).toContain(words)
    expect(page).not.toMatch(/<script|<style|<img|<a |\son\w+=/i)
  })

  test.each(['*/*', 'application/json', 'application/json, text/html;q=0.5', ''])(
    'a program that accepts %j gets the envelope',
    async (accepted) => {
      const response = await getRaw(textOf(request({ client_id: 'nobody' })), { accept: accepted })
      expect(await response.json()).toMatchObject({ code: 40002, data: null })
    },
  )

  test('any other fault is still sent to the client', async () => {
    const response = await getRaw(textOf(request({ scope: 'email' })), { accept })
    expect(location(response).query.get('error')).toBe('invalid_scope')
  })
})

describe('a client that may leave PKCE out (RFC 9700 §2.1.1)', async () => {
  const optional = await createClient({ secret: 'a client secret of 34 characters!!', pkce: 'optional' })
  const without = { code_challenge: undefined, code_challenge_method: undefined }

  test.each([
    ['without a challenge but with a nonce', without, undefined],
    ['with a challenge but without a nonce', { nonce: undefined }, undefined],
    ['with neither', { ...without, nonce: undefined }, 'nonce is required without a code_challenge'],
    ['with a method but no challenge', { code_challenge: undefined }, 'code_challenge is required'],
    [
      'with a challenge but no method',
      { code_challenge_method: undefined },
      'code_challenge_method must be S256',
    ],
  ])('a request %s is answered as it should be', async (_what, overrides, problem) => {
    const response = await getAuthorize(authorizationRequest(optional, overrides))
    const { to, query } = location(response)
    expect(to).toBe(problem === undefined ? stack.auth_url : optional.redirectUri)
    expect(query.get('error_description')).toBe(problem ?? null)
  })

  test('a request without challenge and nonce is taken from a client that is registered with `off`', async () => {
    const off = await createClient({ secret: 'a client secret of 34 characters!!', pkce: 'off' })
    const response = await getAuthorize(authorizationRequest(off, { ...without, nonce: undefined }))
    expect(location(response).to).toBe(stack.auth_url)
  })
})
