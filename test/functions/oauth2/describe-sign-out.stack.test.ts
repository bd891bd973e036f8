import { expect, test } from 'vitest'
import { createClient, createSession } from '../../support/oauth-clients.ts'
import { address, deviceTokenOf, obtainCode, postForm } from '../../support/oauth.ts'

const uri = 'https://client.example/bye?tenant=1'
const client = await createClient({ postLogoutRedirectUris: [uri] })
const other = await createClient({ postLogoutRedirectUris: ['https://other.example/'] })
const session = await createSession()
const { exchange } = await obtainCode(client, session)
const { body: tokens } = await postForm('/oauth2/token', exchange)
const hint = String(tokens['id_token'])

async function describeSignOut(query: Record<string, string>) {
  const response = await fetch(address(`/oauth2/sign-out/request?${new URLSearchParams(query).toString()}`))
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const client_name = 'a client of a test'

test.each([
  ['nothing', {}, {}],
  ['only a state', { state: 's' }, {}],
  ['a client', { client_id: client.clientId }, { client_name }],
  ['a hint', { id_token_hint: hint }, { client_name }],
  [
    'a hint and a registered address',
    { id_token_hint: hint, post_logout_redirect_uri: uri },
    { client_name, redirect_to: uri },
  ],
  [
    'a client, a registered address and a state',
    { client_id: client.clientId, post_logout_redirect_uri: uri, state: 'a&b=c' },
    { client_name, redirect_to: `${uri}&state=a%26b%3Dc` },
  ],
])('the description of a sign-out request with %s is right', async (_what, query, data) => {
  expect(await describeSignOut(query)).toEqual({ status: 200, body: { code: 0, msg: 'success', data } })
})

test('a hint of the password flow names the service’s own client', async () => {
  const { body } = await describeSignOut({ id_token_hint: await deviceTokenOf(session) })
  expect(body['data']).toEqual({ client_name: 'first-party' })
})

test.each([
  ['an address but no client', 40002, { post_logout_redirect_uri: uri }],
  ['an unknown client', 40002, { client_id: 'nobody' }],
  ['the address of another client', 40002, { client_id: other.clientId, post_logout_redirect_uri: uri }],
  [
    'an address with an added query',
    40002,
    { id_token_hint: hint, post_logout_redirect_uri: `${uri}&added=1` },
  ],
  [
    'a redirect URI that is registered for sign-in only',
    40002,
    { id_token_hint: hint, post_logout_redirect_uri: client.redirectUri },
  ],
  ['a hint that was issued to another client', 40001, { id_token_hint: hint, client_id: other.clientId }],
  ['a changed hint', 40001, { id_token_hint: `${hint.slice(0, -8)}AAAAAAAA` }],
  ['a hint that is no token', 40001, { id_token_hint: 'nonsense' }],
  ['a state of 4,097 characters', 40001, { state: 's'.repeat(4097) }],
])('the endpoint refuses to describe a sign-out request with %s', async (_what, code, query) => {
  const { status, body } = await describeSignOut(query)
  expect(status).toBe(400)
  expect(body['code']).toBe(code)
})
