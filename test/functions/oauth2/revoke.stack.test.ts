import { describe, expect, test } from 'vitest'
import { basic, createClient, createSession, type TestClient } from '../../support/oauth-clients.ts'
import { getUserinfo, obtainCode, postForm, postJson } from '../../support/oauth.ts'

const secret = 'a client secret of 34 characters!!'
const client = await createClient()
const confidential = await createClient({ secret })
const session = await createSession()

async function tokenOf(of: TestClient, from = session): Promise<string> {
  const { exchange } = await obtainCode(of, from)
  const { body } = await postForm('/oauth2/token', exchange)
  return String(body['access_token'])
}

const works = async (token: string): Promise<boolean> => (await getUserinfo(token)).status === 200

describe('RFC 7009 §2.1: a client revokes its own token', () => {
  test.each([
    ['form', postForm],
    ['JSON', postJson],
  ])(
    'a client can revoke its token with a %s body, and can repeat that request (RFC 7009 §2.2)',
    async (_kind, post) => {
      const token = await tokenOf(client)
      const other = await tokenOf(client)
      for (let time = 1; time <= 2; time += 1) {
        const { status, headers, body } = await post('/oauth2/revoke', {
          token,
          token_type_hint: 'access_token',
          client_id: client.clientId,
        })
        expect(status).toBe(200)
        expect(headers.get('cache-control')).toBe('no-store')
        expect(body).toEqual({ code: 0, msg: 'success', data: null })
      }
      expect(await works(token)).toBe(false)
      expect(await works(other)).toBe(true)
    },
  )

  test('a confidential client must authenticate to revoke a token', async () => {
    const token = await tokenOf(confidential)
    for (const headers of [basic(confidential.clientId, 'wrong'), {}]) {
      const { body } = await postForm('/oauth2/revoke', { token, client_id: confidential.clientId }, headers)
      expect(body).toMatchObject({ error: 'invalid_client', code: 40104 })
    }
    expect(await works(token)).toBe(true)
    const { status } = await postForm('/oauth2/revoke', { token }, basic(confidential.clientId, secret))
    expect(status).toBe(200)
    expect(await works(token)).toBe(false)
  })

  test('revoking another client’s token is refused, and the token keeps working', async () => {
    const token = await tokenOf(confidential)
    const { status, body } = await postForm('/oauth2/revoke', { token, client_id: client.clientId })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'invalid_grant', code: 40003 })
    expect(await works(token)).toBe(true)
  })

  test('revoking the access_token of a sign-in also revokes all tokens derived from it', async () => {
    const own = await createSession()
    const derived = await tokenOf(client, own)
    const { status } = await postForm('/oauth2/revoke', { token: own.accessToken, client_id: 'first-party' })
    expect(status).toBe(200)
    expect([await works(own.accessToken), await works(derived)]).toEqual([false, false])
  })
})

test.each(['unknown', 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln', `at_1.${'a'.repeat(22)}.${'b'.repeat(43)}`])(
  'revoking the unknown token %s succeeds (RFC 7009 §2.2)',
  async (token) => {
    const { status } = await postForm('/oauth2/revoke', { token, client_id: client.clientId })
    expect(status).toBe(200)
  },
)

test.each([
  ['no token', {}, 40001, 'invalid_request'],
  ['no client', { token: 'x', client_id: '' }, 40001, 'invalid_request'],
  ['an unknown client', { token: 'x', client_id: 'nobody' }, 40104, 'invalid_client'],
])(
  'a revocation request with %s is answered with the error code of this API and that of OAuth',
  async (_why, overrides, code, error) => {
    const { status, body } = await postForm('/oauth2/revoke', { client_id: client.clientId, ...overrides })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code, error })
  },
)
