import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { revokeToken } from '../../../shared/tokens/session.ts'
import { scopes } from '../../../shared/tokens/scopes.ts'
import { bearer, createClient, createSession, issueClientToken } from '../../support/oauth-clients.ts'
import { postJson, stack } from '../../support/oauth.ts'

const client = await createClient({ scopes: ['openid', 'email', 'account.read'] })
const session = await createSession(1800)

const path = '/oauth2/authorize'

test.each([
  ['in the body', () => postJson(path, { access_token: session.accessToken })],
  ['as Bearer', () => postJson(path, {}, bearer(session.accessToken))],
  ['in both', () => postJson(path, { access_token: session.accessToken }, bearer(session.accessToken))],
])('the token exchange issues a device_token for a first-party access_token %s', async (_where, exchange) => {
  const { status, headers, body } = await exchange()
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('pragma')).toBe('no-cache')
  expect(Object.keys(body).sort()).toEqual(['code', 'data', 'msg'])
  const data = body['data'] as Record<string, string>
  expect(data).toMatchObject({ token_type: 'Bearer', expire: session.expiresAt, scope: scopes.join(' ') })
  expect(Number(data['expires_in'])).toBeGreaterThan(1700)
  expect(decodeJwt(data['device_token'] ?? '')).toMatchObject({
    iss: stack.base_url,
    aud: 'first-party',
    sub: String(session.userId),
    sid: session.sessionId,
    exp: Math.floor(session.expiresAt / 1000),
    email: session.email,
    name: session.nickname,
  })
})

test('the token exchange gives the requested scopes and nonce, or else all scopes of the client', async () => {
  const request = { access_token: session.accessToken, client_id: client.clientId }
  const all = (await postJson(path, request)).body['data'] as Record<string, string>
  expect(all['scope']).toBe('openid email account.read')
  expect(decodeJwt(all['device_token'] ?? '')).not.toHaveProperty('name')
  const own = await postJson(path, { access_token: session.accessToken, scope: 'openid profile' })
  const { device_token } = own.body['data'] as { device_token: string }
  expect(decodeJwt(device_token)).toMatchObject({ name: session.nickname })
  expect(decodeJwt(device_token)).not.toHaveProperty('email')
  const some = (await postJson(path, { ...request, scope: 'openid', nonce: 'n' })).body['data'] as Record<
    string,
    string
  >
  expect(some['scope']).toBe('openid')
  const claims = decodeJwt(some['device_token'] ?? '')
  expect(claims).toMatchObject({ aud: client.clientId, azp: client.clientId, nonce: 'n' })
  expect(claims).not.toHaveProperty('email')
})

test('the token exchange leaves out scopes that are unknown or not registered for the client', async () => {
  const scope = 'openid admin profile offline_access'
  const request = { access_token: session.accessToken, client_id: client.clientId, scope }
  const { status, body } = await postJson(path, request)
  expect(status).toBe(200)
  expect(body['data']).toMatchObject({ scope: 'openid' })
})

describe('an invalid exchange', () => {
  test('a token exchange without a token is answered with 401', async () => {
    const { status, headers, body } = await postJson(path, { access_token: '' })
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe('Bearer')
    expect(body['code']).toBe(40100)
  })

  test.each([
    ['in another format', async () => 'not-a-token'],
    ['that was never issued', async () => session.accessToken.slice(0, -1) + '!'],
    [
      'that was revoked',
      async () => {
        const ended = await createSession()
        await revokeToken(ended.accessToken, 'first-party')
        return ended.accessToken
      },
    ],
    ['that has expired', async () => (await createSession(-1)).accessToken],
  ])('the token exchange refuses a token that is %s, in the body or in the header', async (_why, make) => {
    const token = await make()
    for (const { status, headers, body } of [
      await postJson(path, { access_token: token, client_id: 'nobody' }),
      await postJson(path, {}, bearer(token)),
    ]) {
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
      expect(body['code']).toBe(40100)
    }
  })

  test('the token exchange refuses a token that was issued to a client', async () => {
    const accessToken = await issueClientToken(session, client)
    const { status, body } = await postJson(path, { access_token: accessToken })
    expect(status).toBe(403)
    expect(body['code']).toBe(40300)
  })

  test.each([
    ['an unknown client', { client_id: 'nobody' }, 40002],
    ['no scope that may be granted', { scope: 'admin profile' }, 40005],
    ['a nonce of 60,000 characters', { nonce: 'n'.repeat(60_000) }, 40001],
    ['a nonce of 1,025 characters', { nonce: 'n'.repeat(1025) }, 40001],
    ['a scope of 60,000 characters', { scope: `openid ${'s'.repeat(60_000)}` }, 40001],
    ['a number for a nonce', { nonce: 7 }, 40001],
  ])('the token exchange refuses a request with %s', async (_why, overrides, code) => {
    const { status, body } = await postJson(path, {
      access_token: session.accessToken,
      client_id: client.clientId,
      ...overrides,
    })
    expect(status).toBe(400)
    expect(body['code']).toBe(code)
  })

  // With 40001 if both are valid, otherwise with 40100.
  test('a token exchange with different tokens in body and header is refused', async () => {
    const other = await createSession()
    const codes = []
    for (const [inBody, inHeader] of [
      ['unknown', session.accessToken],
      [session.accessToken, 'unknown'],
      [session.accessToken, other.accessToken],
    ] as const)
      codes.push((await postJson(path, { access_token: inBody }, bearer(inHeader))).body['code'])
    expect(codes).toEqual([40100, 40100, 40001])
  })
})
