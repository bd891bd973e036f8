import { expect, test } from 'vitest'
import { authorizationRequest, createClient } from '../../support/oauth-clients.ts'
import { address } from '../../support/oauth.ts'

const client = await createClient({ scopes: ['openid', 'email'] })

async function describeRequest(query: Record<string, string> | string) {
  const path = `/oauth2/authorize/request?${new URLSearchParams(query).toString()}`
  const response = await fetch(address(path))
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const request = (overrides: Record<string, string | undefined> = {}) =>
  authorizationRequest(client, overrides)

test('the description of an authorization request has the client’s registered name and the scopes that the client would get', async () => {
  const scope = 'openid email deposit.read offline_access'
  const { status, body } = await describeRequest({ ...request({ scope }), login_hint: 'a', ui_locales: 'de' })
  expect(status).toBe(200)
  expect(body).toEqual({
    code: 0,
    msg: 'success',
    data: { client_name: 'a client of a test', scope: 'openid email' },
  })
})

test.each([
  ['an unknown client', 40002, { client_id: 'nobody' }],
  ['no client', 40002, { client_id: undefined }],
  ['a redirect URI of somebody else', 40002, { redirect_uri: 'https://attacker.example/callback' }],
  ['no redirect URI', 40002, { redirect_uri: undefined }],
  ['no scope', 40005, { scope: undefined }],
  ['a scope without openid', 40005, { scope: 'email' }],
  ['no challenge', 40001, { code_challenge: undefined }],
  ['another response type', 40001, { response_type: 'token' }],
  ['prompt=none', 40001, { prompt: 'none' }],
  ['a nonce that is too long', 40001, { nonce: 'n'.repeat(1025) }],
  ['a max_age that is no number', 40001, { max_age: 'soon' }],
])('the endpoint refuses to describe an authorization request with %s', async (_why, code, overrides) => {
  const { status, body } = await describeRequest(request(overrides))
  expect(status).toBe(400)
  expect(body['code']).toBe(code)
})
