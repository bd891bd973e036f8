import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { db, tableName } from '../../shared/db/table.ts'
import { revokeToken } from '../../shared/tokens/access-token.ts'
import {
  authorizationRequest,
  bearer,
  createClient,
  createSession,
  pkce,
  type SignedIn,
  type TestClient,
} from '../support/oauth-clients.ts'
import {
  address,
  getAuthorize,
  getUserinfo,
  obtainCode,
  postConsent,
  postForm,
  stack,
} from '../support/oauth.ts'

let client: TestClient
let session: SignedIn
beforeAll(async () => {
  client = await createClient({
    redirectUris: ['https://client.example/callback', 'https://client.example/other'],
  })
  session = await createSession()
})

const exchangeCode = (request: Record<string, string>) => postForm('/oauth2/token', request)
const works = async (token: unknown): Promise<boolean> => (await getUserinfo(String(token))).status === 200
const invalidGrant = { status: 400, body: { error: 'invalid_grant', code: 40003, data: null } }

/** Expires a code without waiting. */
async function expireCode(code: string): Promise<void> {
  const hash = createHash('sha256').update(code).digest('base64url')
  await db.send(
    new UpdateCommand({
      TableName: tableName(),
      Key: { pk: `CODE#${hash}`, sk: 'CODE' },
      UpdateExpression: 'SET expires_at = :past',
      ExpressionAttributeValues: { ':past': Date.now() - 1 },
    }),
  )
}

describe('RFC 6749 §4.1.2 and §10.5: a code is short-lived and works once', () => {
  test('it lives 60 seconds', async () => {
    const { body } = await postConsent(session, authorizationRequest(client))
    expect(body['data']).toMatchObject({ expires_in: 60 })
  })

  test('an expired code is refused', async () => {
    const { code, exchange } = await obtainCode(client, session)
    await expireCode(code)
    expect(await exchangeCode(exchange)).toMatchObject(invalidGrant)
  })

  test('an unknown code is refused', async () => {
    const { exchange } = await obtainCode(client, session)
    expect(await exchangeCode({ ...exchange, code: 'unknown' })).toMatchObject(invalidGrant)
  })

  test('a valid replay is refused, and revokes the code’s tokens (RFC 9700 §4.5)', async () => {
    const { exchange } = await obtainCode(client, session)
    const first = await exchangeCode(exchange)
    expect(await works(first.body['access_token'])).toBe(true)
    expect(await exchangeCode(exchange)).toMatchObject(invalidGrant)
    expect(await works(first.body['access_token'])).toBe(false)
    expect(await exchangeCode(exchange)).toMatchObject(invalidGrant)
  })

  test('a replay after the code’s expiry revokes them too', async () => {
    const { code, exchange } = await obtainCode(client, session)
    const first = await exchangeCode(exchange)
    await expireCode(code)
    expect(await exchangeCode(exchange)).toMatchObject(invalidGrant)
    expect(await works(first.body['access_token'])).toBe(false)
  })

  test('a replay leaves the user’s other tokens alone', async () => {
    const other = await obtainCode(client, session)
    const kept = await exchangeCode(other.exchange)
    const { exchange } = await obtainCode(client, session)
    await exchangeCode(exchange)
    await exchangeCode(exchange)
    expect(await works(kept.body['access_token'])).toBe(true)
    expect(await works(session.accessToken)).toBe(true)
  })

  test('one of fifty simultaneous exchanges wins, and its tokens are revoked', async () => {
    const { exchange } = await obtainCode(client, session)
    const answers = await Promise.all(Array.from({ length: 50 }, () => exchangeCode(exchange)))
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    for (const lost of answers.filter((answer) => answer !== won[0])) expect(lost).toMatchObject(invalidGrant)
    expect(await works(won[0]?.body['access_token'])).toBe(false)
  })
})

describe('a request that does not match the code is refused and does not use it up:', () => {
  const misfits: [string, (exchange: Record<string, string>) => Promise<Record<string, string>>][] = [
    [
      'RFC 6749 §4.1.3: another client',
      async (exchange) => ({ ...exchange, client_id: (await createClient()).clientId }),
    ],
    [
      'RFC 6749 §4.1.3: another redirect URI, even one of the same client',
      async (exchange) => ({ ...exchange, redirect_uri: 'https://client.example/other' }),
    ],
    [
      'RFC 7636 §4.6: another verifier',
      async (exchange) => ({ ...exchange, code_verifier: pkce().verifier }),
    ],
    ['RFC 7636 §4.6: a short verifier', async (exchange) => ({ ...exchange, code_verifier: 'wrong' })],
    [
      'RFC 7636 §7.2: the challenge for a verifier',
      async (exchange) => ({
        ...exchange,
        code_verifier: createHash('sha256')
          .update(exchange['code_verifier'] ?? '')
          .digest('base64url'),
      }),
    ],
  ]

  test.each(misfits)('%s', async (_why, misfit) => {
    const { exchange } = await obtainCode(client, session)
    const wrong = await misfit(exchange)
    expect(await exchangeCode(wrong)).toMatchObject(invalidGrant)
    const { status, body } = await exchangeCode(exchange)
    expect(status).toBe(200)
    expect(await exchangeCode(wrong)).toMatchObject(invalidGrant)
    expect(await works(body['access_token'])).toBe(true)
  })

  test('a code is refused once its session has ended', async () => {
    const ending = await createSession()
    const { exchange } = await obtainCode(client, ending)
    await revokeToken(ending.accessToken, 'first-party')
    expect(await exchangeCode(exchange)).toMatchObject(invalidGrant)
  })

  test('tokens from a code stop working when the session ends', async () => {
    const ending = await createSession()
    const { exchange } = await obtainCode(client, ending)
    const { body } = await exchangeCode(exchange)
    await revokeToken(ending.accessToken, 'first-party')
    expect(await works(body['access_token'])).toBe(false)
  })

  test('a verifier of fewer than 43 characters is refused, even with a matching challenge (RFC 7636 §4.1)', async () => {
    const challenge = createHash('sha256').update('short').digest('base64url')
    const { exchange } = await obtainCode(client, session, { code_challenge: challenge })
    const { status, body } = await exchangeCode({ ...exchange, code_verifier: 'short' })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'invalid_request', code: 40001 })
  })
})

describe('RFC 9700 §2.1.1 and §4.8: PKCE cannot be omitted or weakened', () => {
  test.each([
    [{ code_challenge: undefined, code_challenge_method: undefined }],
    [{ code_challenge: undefined }],
    [{ code_challenge_method: undefined }],
    [{ code_challenge_method: 'plain' }],
  ])('at authorize or at consent: %j', async (overrides) => {
    const request = authorizationRequest(client, overrides)
    const response = await getAuthorize(request)
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('error')).toBe('invalid_request')
    expect((await postConsent(session, request)).body).toMatchObject({ code: 40001 })
  })
})

describe('RFC 9207 §2 and RFC 9700 §4.4.2.1: every authorization response names its issuer', () => {
  test('on success, denial and error', async () => {
    const request = authorizationRequest(client)
    const answers = [
      (await postConsent(session, request)).body['data'],
      (await postConsent(session, { ...request, approved: false })).body['data'],
    ].map((data) => (data as { redirect_to: string }).redirect_to)
    const fault = await getAuthorize(authorizationRequest(client, { response_type: 'token' }))
    for (const to of [...answers, fault.headers.get('location') ?? '']) {
      expect(new URL(to).searchParams.get('iss')).toBe(stack.base_url)
    }
  })
})

describe('RFC 9700 §4.11.2 and §4.12: no open redirector, and no redirect that repeats a body', () => {
  test('a redirect is a 302 to a registered URI or to the authorization page', async () => {
    for (const overrides of [{}, { scope: 'nonsense' }]) {
      const response = await getAuthorize(authorizationRequest(client, overrides))
      expect(response.status).toBe(302)
    }
    const response = await getAuthorize(
      authorizationRequest(client, { redirect_uri: 'https://evil.example' }),
    )
    expect(response.status).toBe(400)
    expect(response.headers.get('location')).toBeNull()
  })

  test('every answer has referrer-policy no-referrer (§4.2.4)', async () => {
    const response = await getAuthorize(authorizationRequest(client))
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  })
})

describe('RFC 9700 §2.3: a token works only for its scopes', () => {
  test('the scope openid alone does not allow reading a wallet', async () => {
    const { exchange } = await obtainCode(client, session, { scope: 'openid' })
    const { body } = await exchangeCode(exchange)
    const response = await fetch(address('/account/info'), { headers: bearer(String(body['access_token'])) })
    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"')
    expect(await response.json()).toMatchObject({ code: 40300, data: null })
  })

  test('a client’s token can neither end the session nor consent', async () => {
    const { exchange } = await obtainCode(client, session)
    const { body } = await exchangeCode(exchange)
    const stolen = { ...session, accessToken: String(body['access_token']) }
    expect((await postConsent(stolen, authorizationRequest(client))).body).toMatchObject({ code: 40300 })
  })
})
