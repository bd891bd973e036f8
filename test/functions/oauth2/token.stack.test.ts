import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { basic, createClient, createSession, without } from '../../support/oauth-clients.ts'
import { address, obtainCode, postForm, postJson } from '../../support/oauth.ts'

const secret = 'a secret: with %41 + and "signs", 41 long'
const client = await createClient()
const confidential = await createClient({ secret })
const session = await createSession()

test.each([
  ['form', postForm],
  ['JSON', postJson],
])(
  'the token endpoint answers a %s request with the OAuth members both at the top level and in `data`',
  async (_kind, post) => {
    const { exchange } = await obtainCode(client, session, { scope: 'openid account.read' })
    const before = Date.now()
    const { status, headers, body } = await post('/oauth2/token', exchange)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('pragma')).toBe('no-cache')
    expect(headers.get('content-type')).toMatch(/^application\/json(;|$)/)
    const { code, msg, data, ...standard } = body
    expect({ code, msg }).toEqual({ code: 0, msg: 'success' })
    expect(data).toEqual(standard)
    expect(Object.keys(standard).sort()).toEqual(
      ['access_token', 'device_token', 'expire', 'expires_in', 'id_token', 'scope', 'token_type'].sort(),
    )
    expect(standard).toMatchObject({ token_type: 'Bearer', scope: 'openid account.read' })
    expect(standard['id_token']).toBe(standard['device_token'])
    const expire = Number(standard['expire'])
    expect(standard['expires_in']).toBeLessThanOrEqual(Math.floor((expire - before) / 1000))
    expect(standard['expires_in']).toBeGreaterThanOrEqual(Math.floor((expire - Date.now()) / 1000))
  },
)

test('the token endpoint issues tokens that expire no later than their session', async () => {
  const short = await createSession(30)
  const { exchange } = await obtainCode(client, short)
  const { body } = await postForm('/oauth2/token', exchange)
  expect(body['expire']).toBe(short.expiresAt)
})

describe('client authentication', () => {
  test('the token endpoint accepts HTTP Basic with an unencoded client secret', async () => {
    const { exchange } = await obtainCode(confidential, session)
    const rest = without(exchange, 'client_secret')
    const authorization = `basic ${Buffer.from(`${confidential.clientId}:${secret}`).toString('base64')}`
    const { status } = await postForm('/oauth2/token', rest, { authorization })
    expect(status).toBe(200)
  })

  test('the token endpoint answers 401 with a challenge if HTTP Basic credentials are wrong', async () => {
    const { exchange } = await obtainCode(confidential, session)
    const rest = without(exchange, 'client_secret', 'client_id')
    for (const authorization of [
      basic(confidential.clientId, 'wrong').authorization,
      basic(confidential.clientId, `${secret}.`).authorization,
      basic(confidential.clientId, '').authorization,
      basic('nobody', secret).authorization,
      `Basic ${Buffer.from('no colon').toString('base64')}`,
    ]) {
      const { status, headers, body } = await postForm('/oauth2/token', rest, { authorization })
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toMatch(/^Basic /)
      expect(body).toMatchObject({ code: 40104, error: 'invalid_client', data: null })
    }
    expect((await postForm('/oauth2/token', exchange)).status).toBe(200)
  })

  test.each([
    ['a wrong secret', { client_secret: secret.toUpperCase() }],
    ['a secret that is too short to be one', { client_secret: 'wrong' }],
    ['no secret', { client_secret: '' }],
    ['an unknown client', { client_id: 'nobody' }],
  ])(
    'the token endpoint answers 400 without a challenge if client credentials in the form are wrong: %s',
    async (_why, overrides) => {
      const { exchange } = await obtainCode(confidential, session)
      const { status, headers, body } = await postForm('/oauth2/token', { ...exchange, ...overrides })
      expect(status).toBe(400)
      expect(headers.get('www-authenticate')).toBeNull()
      expect(body).toMatchObject({ code: 40104, error: 'invalid_client' })
      expect((await postForm('/oauth2/token', exchange)).status).toBe(200)
    },
  )

  test('the token endpoint refuses a secret from a public client', async () => {
    const { exchange } = await obtainCode(client, session)
    const { body } = await postForm('/oauth2/token', { ...exchange, client_secret: 'any' })
    expect(body['error']).toBe('invalid_client')
  })

  test.each([
    ['two authentication methods at once', { client_secret: secret }],
    ['two client_ids', { client_id: 'another' }],
  ])(
    'the token endpoint refuses conflicting client credentials as invalid_request: %s',
    async (_why, extra) => {
      const { status, body } = await postForm(
        '/oauth2/token',
        { grant_type: 'authorization_code', ...extra },
        basic(confidential.clientId, secret),
      )
      expect(status).toBe(400)
      expect(body).toMatchObject({ code: 40001, error: 'invalid_request' })
    },
  )
})

describe('errors of the token endpoint', () => {
  test.each(['grant_type', 'code', 'redirect_uri', 'client_id', 'code_verifier'])(
    'the token endpoint answers a missing or empty %s with invalid_request',
    async (name) => {
      const { exchange } = await obtainCode(client, session)
      for (const request of [without(exchange, name), { ...exchange, [name]: '' }]) {
        const { status, body } = await postForm('/oauth2/token', request)
        expect(status).toBe(400)
        expect(body).toMatchObject({
          error: 'invalid_request',
          error_description: `${name} is required`,
          code: 40001,
          data: { errors: [{ field: name, reason: 'is required' }] },
        })
      }
      expect((await postForm('/oauth2/token', exchange)).status).toBe(200)
    },
  )

  test.each(['password', 'client_credentials', 'refresh_token', 'implicit', '__proto__'])(
    'the token endpoint answers the grant type %s with unsupported_grant_type',
    async (grant_type) => {
      const { status, body } = await postForm('/oauth2/token', { grant_type, client_id: client.clientId })
      expect(status).toBe(400)
      expect(body).toMatchObject({ code: 40004, error: 'unsupported_grant_type', data: null })
    },
  )

  test('the token endpoint refuses a repeated parameter, even with the same value', async () => {
    const { exchange } = await obtainCode(client, session)
    const twice = `${new URLSearchParams(exchange).toString()}&client_id=${exchange['client_id'] ?? ''}`
    const { status, body } = await postForm('/oauth2/token', twice)
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 40001, error: 'invalid_request' })
  })

  test.each([
    ['text/plain', 'grant_type=authorization_code', 415, 41500],
    ['application/json', '{"grant_type":', 400, 40000],
    ['application/json', '[]', 400, 40000],
    ['application/json', '{"grant_type":7}', 400, 40001],
    ['application/json', '{"grant_type":"password","grant_type":"password"}', 400, 40001],
  ])('the token endpoint refuses a body of type %s: %s', async (type, body, status, code) => {
    const response = await fetch(address('/oauth2/token'), {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ code, error: 'invalid_request' })
  })

  test('the token endpoint never returns input unescaped in an error', async () => {
    const { body, headers } = await postForm(
      '/oauth2/token',
      '%22%3Cscript%3E%5C=1&%22%3Cscript%3E%5C=2&a=%0d',
    )
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(JSON.stringify(body)).not.toMatch(/<script|%3C|\\\\/)
    expect(body['error_description']).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
  })
})

describe('a client that may leave PKCE out', async () => {
  const optional = await createClient({ secret, pkce: 'optional' })
  const noChallenge = { code_challenge: undefined, code_challenge_method: undefined }

  test('a code that was issued without a challenge is exchanged without a verifier', async () => {
    const { exchange } = await obtainCode(optional, session, noChallenge)
    const { status, body } = await postForm('/oauth2/token', without(exchange, 'code_verifier'))
    expect(status).toBe(200)
    expect(decodeJwt(String(body['id_token']))).toMatchObject({ nonce: 'n-0S6_WzA2Mj' })
  })

  test('a code that was issued without a challenge refuses a verifier, and stays unused (RFC 9700 §4.8.2)', async () => {
    const { exchange } = await obtainCode(optional, session, noChallenge)
    const { status, body } = await postForm('/oauth2/token', exchange)
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'invalid_grant', code: 40003 })
    expect((await postForm('/oauth2/token', without(exchange, 'code_verifier'))).status).toBe(200)
  })

  test('a code that was issued with a challenge demands its verifier, and stays unused without', async () => {
    const { exchange } = await obtainCode(optional, session)
    for (const [request, error] of [
      [without(exchange, 'code_verifier'), 'invalid_request'],
      [{ ...exchange, code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    ] as const) {
      const { status, body } = await postForm('/oauth2/token', request)
      expect(status).toBe(400)
      expect(body['error']).toBe(error)
    }
    expect((await postForm('/oauth2/token', exchange)).status).toBe(200)
  })

  test('an unknown code is answered with invalid_grant', async () => {
    const { exchange } = await obtainCode(optional, session, noChallenge)
    const unknown = { ...without(exchange, 'code_verifier'), code: 'unknown' }
    expect((await postForm('/oauth2/token', unknown)).body).toMatchObject({ error: 'invalid_grant' })
  })
})
