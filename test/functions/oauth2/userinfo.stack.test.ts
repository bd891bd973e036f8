import { describe, expect, test } from 'vitest'
import { transact } from '../../../shared/db/write.ts'
import { issueAccessToken } from '../../../shared/tokens/access-token.ts'
import type { Scope } from '../../../shared/tokens/scopes.ts'
import { bearer, createSession } from '../../support/oauth-clients.ts'
import { address, getUserinfo, postForm } from '../../support/oauth.ts'

const session = await createSession()

async function tokenFor(scopes: Scope[]): Promise<string> {
  const { accessToken, put } = issueAccessToken({
    userId: session.userId,
    sessionId: session.sessionId,
    clientId: 'a client',
    scopes,
    firstParty: false,
    expiresAt: Date.now() + 60_000,
    authenticatedAt: Date.now(),
  })
  await transact([put])
  return accessToken
}

test.each([
  [['openid'], []],
  [
    ['openid', 'email'],
    ['email', 'email_verified'],
  ],
  [
    ['openid', 'profile'],
    ['name', 'nickname'],
  ],
  [
    ['openid', 'profile', 'email', 'account.read'],
    ['email', 'email_verified', 'name', 'nickname'],
  ],
] as [Scope[], string[]][])('userinfo with the scopes %j returns sub and %j', async (scopes, names) => {
  const everything: Record<string, unknown> = {
    email: session.email,
    email_verified: true,
    name: session.nickname,
    nickname: session.nickname,
  }
  const claims = {
    sub: String(session.userId),
    ...Object.fromEntries(names.map((name) => [name, everything[name]])),
  }
  const token = await tokenFor(scopes)
  for (const method of ['GET', 'POST']) {
    const response = await fetch(address('/oauth2/userinfo'), { method, headers: bearer(token) })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json(;|$)/)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual({ ...claims, code: 0, msg: 'success', data: claims })
  }
  const { status, body } = await postForm('/oauth2/userinfo', { access_token: token })
  expect(status).toBe(200)
  expect(body['data']).toEqual(claims)
})

describe('the access_token in a form (RFC 6750 §2.2)', () => {
  test('userinfo refuses a token in a form beside an Authorization header, even the same', async () => {
    const token = await tokenFor(['openid'])
    const { status, body } = await postForm('/oauth2/userinfo', { access_token: token }, bearer(token))
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 40001, error: 'invalid_request' })
  })

  test('userinfo refuses a repeated token in a form', async () => {
    const token = await tokenFor(['openid'])
    const form = `access_token=${token}&access_token=${token}`
    expect((await postForm('/oauth2/userinfo', form)).status).toBe(400)
  })

  test.each([
    ['GET', undefined],
    ['POST', 'application/json'],
    ['POST', 'multipart/form-data; boundary=b'],
  ])('userinfo ignores a token that is not in a POSTed form: %s %s', async (method, type) => {
    const token = await tokenFor(['openid'])
    const response = await fetch(address(`/oauth2/userinfo?access_token=${token}`), {
      method,
      ...(type && { headers: { 'content-type': type }, body: JSON.stringify({ access_token: token }) }),
    })
    expect(response.status).toBe(401)
  })

  test('userinfo answers invalid_token if the token in a form is bad', async () => {
    const { status, headers } = await postForm('/oauth2/userinfo', { access_token: 'nonsense' })
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  })
})

describe('challenges follow RFC 6750 §3.1', () => {
  test('if a request has no token, userinfo answers with a challenge that names no error', async () => {
    const response = await fetch(address('/oauth2/userinfo'))
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(await response.json()).toMatchObject({ code: 40100, data: null })
  })

  test('userinfo answers invalid_token if the token is bad', async () => {
    const response = await getUserinfo('nonsense')
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
    expect(await response.json()).toMatchObject({ code: 40100, error: 'invalid_token' })
  })

  test('userinfo answers insufficient_scope if the token lacks the scope openid', async () => {
    const response = await getUserinfo(await tokenFor(['account.read']))
    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"')
    expect(await response.json()).toMatchObject({ code: 40300, error: 'insufficient_scope' })
  })

  test('userinfo ignores a token in the query (RFC 9700 §4.3.2)', async () => {
    const token = await tokenFor(['openid'])
    const response = await fetch(address(`/oauth2/userinfo?access_token=${token}`))
    expect(response.status).toBe(401)
  })
})
