import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { writeItem } from '../../shared/db/write.ts'
import { revokeToken } from '../../shared/tokens/session.ts'
import { createClient, createSession, pkce } from '../support/oauth-clients.ts'
import { expectRefused, getUserinfo, obtainCode, postForm } from '../support/oauth.ts'

const client = await createClient({
  redirectUris: ['https://client.example/callback', 'https://client.example/other'],
})
const session = await createSession()

const exchangeCode = (request: Record<string, string>) => postForm('/oauth2/token', request)
const works = async (token: unknown): Promise<boolean> => (await getUserinfo(String(token))).status === 200
const invalidGrant = { status: 400, body: { error: 'invalid_grant', code: 40003, data: null } }

/** Makes an authorization code expire now, by changing its stored expiry. */
async function expireCode(code: string): Promise<void> {
  const hash = createHash('sha256').update(code).digest('base64url')
  await writeItem({
    Update: {
      Key: { pk: `CODE#${hash}`, sk: 'CODE' },
      UpdateExpression: 'SET expiresAt = :past',
      ExpressionAttributeValues: { ':past': Date.now() - 1 },
    },
  })
}

describe('RFC 6749 §4.1.2 and §10.5: a code is short-lived and works once', () => {
  test('an expired authorization code is refused', async () => {
    const { code, exchange } = await obtainCode(client, session)
    await expireCode(code)
    expect(await exchangeCode(exchange)).toMatchObject(invalidGrant)
  })

  test('an unknown authorization code is refused', async () => {
    const { exchange } = await obtainCode(client, session)
    expect(await exchangeCode({ ...exchange, code: 'unknown' })).toMatchObject(invalidGrant)
  })

  test('replaying a used authorization code is refused and revokes its tokens (RFC 9700 §4.5)', async () => {
    const { exchange } = await obtainCode(client, session)
    const first = await exchangeCode(exchange)
    expect(await works(first.body['access_token'])).toBe(true)
    expect(await exchangeCode(exchange)).toMatchObject(invalidGrant)
    await expectRefused(first.body['access_token'])
    expect(await exchangeCode(exchange)).toMatchObject(invalidGrant)
  })

  test('replaying a used authorization code after its expiry still revokes its tokens', async () => {
    const { code, exchange } = await obtainCode(client, session)
    const first = await exchangeCode(exchange)
    await expireCode(code)
    expect(await exchangeCode(exchange)).toMatchObject(invalidGrant)
    await expectRefused(first.body['access_token'])
  })

  test('replaying a used code does not revoke tokens that other codes and sign-ins gave', async () => {
    const other = await obtainCode(client, session)
    const kept = await exchangeCode(other.exchange)
    const { exchange } = await obtainCode(client, session)
    await exchangeCode(exchange)
    await exchangeCode(exchange)
    expect(await works(kept.body['access_token'])).toBe(true)
    expect(await works(session.accessToken)).toBe(true)
  })
})

describe('a token request that does not match its code', () => {
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
      'RFC 7636 §7.2: the challenge in place of its verifier',
      async (exchange) => ({
        ...exchange,
        code_verifier: createHash('sha256')
          .update(exchange['code_verifier'] ?? '')
          .digest('base64url'),
      }),
    ],
  ]

  test.each(misfits)(
    'a token request that does not match its code is refused and leaves the code unused: %s',
    async (_why, misfit) => {
      const { exchange } = await obtainCode(client, session)
      const wrong = await misfit(exchange)
      expect(await exchangeCode(wrong)).toMatchObject(invalidGrant)
      const { status, body } = await exchangeCode(exchange)
      expect(status).toBe(200)
      expect(await exchangeCode(wrong)).toMatchObject(invalidGrant)
      expect(await works(body['access_token'])).toBe(true)
    },
  )

  test('an authorization code is refused once the session that obtained it is revoked', async () => {
    const ending = await createSession()
    const { exchange } = await obtainCode(client, ending)
    await revokeToken(ending.accessToken, 'first-party')
    expect(await exchangeCode(exchange)).toMatchObject(invalidGrant)
  })

  test('a PKCE verifier of fewer than 43 characters is refused, even if it matches (RFC 7636 §4.1)', async () => {
    const challenge = createHash('sha256').update('short').digest('base64url')
    const { exchange } = await obtainCode(client, session, { code_challenge: challenge })
    const { status, body } = await exchangeCode({ ...exchange, code_verifier: 'short' })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'invalid_request', code: 40001 })
  })
})
