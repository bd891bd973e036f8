import { decodeJwt } from 'jose'
import { expect, test, vi } from 'vitest'
import { transact } from '../../../shared/db/write.ts'
import { type AuthorizationCode, issueCode } from '../../../shared/oauth/authorization-code.ts'
import { handleTokenRequest } from '../../../shared/oauth/token-endpoint.ts'
import { checkAccessToken } from '../../../shared/tokens/access-token.ts'
import { createClient, createSession, pkce, type SignedIn } from '../../support/oauth-clients.ts'
import { actWhile } from '../../support/tamper-calls.ts'

/** Stores a forged code, as an attacker in the consent function could do, and exchanges it for a token. */
async function exchangeForged(
  session: SignedIn,
  client: Awaited<ReturnType<typeof createClient>>,
  forged: Partial<AuthorizationCode>,
) {
  const { verifier, challenge } = pkce()
  const caller = await checkAccessToken(session.accessToken, 'first-party')
  const { code, put } = issueCode({
    userId: caller.userId,
    sessionId: caller.sessionId,
    sessionDigest: caller.digest,
    sessionExpiresAt: caller.expiresAt,
    authenticatedAt: caller.authenticatedAt,
    clientId: client.clientId,
    redirectUri: client.redirectUri,
    codeChallenge: challenge,
    nonce: undefined,
    scopes: ['openid'],
    expiresAt: Date.now() + 60_000,
    ...forged,
  })
  // With `givenKey`, the forged code is already marked as used.
  const item = { ...put.Put?.Item, ...('givenKey' in forged && { givenKey: forged.givenKey }) }
  await transact([{ Put: { Item: item } }])
  const form = { code, redirect_uri: client.redirectUri, code_verifier: verifier }
  const parameters = { ...form, grant_type: 'authorization_code', client_id: client.clientId }
  return handleTokenRequest(parameters, { authorization: () => undefined })
}

test('the token endpoint grants no scope that its client lacks, even if the code has it', async () => {
  const [session, client] = await Promise.all([createSession(), createClient({ scopes: ['openid'] })])
  const { scope, access_token } = await exchangeForged(session, client, { scopes: ['openid', 'email'] })
  expect(scope).toBe('openid')
  expect((await checkAccessToken(access_token, 'openid')).scopes).toEqual(['openid'])
  await expect(exchangeForged(session, client, { scopes: ['email'] })).rejects.toMatchObject({
    failure: 'invalid_grant',
  })
})

test('a code that expires while it is being exchanged gives no token', async () => {
  const [session, client] = await Promise.all([createSession(), createClient()])
  vi.useFakeTimers({ toFake: ['Date'] })
  const wait = async () => vi.setSystemTime(Date.now() + 60_000)
  const exchange = actWhile('is answered', 'QueryCommand', wait, () => exchangeForged(session, client, {}))
  await expect(exchange).rejects.toMatchObject({ failure: 'invalid_grant' })
})

test('the tokens of a session that outlives them expire at the same instant', async () => {
  vi.useFakeTimers({ toFake: ['Date'] }).setSystemTime(Math.floor(Date.now() / 1000) * 1000 + 900)
  const [session, client] = await Promise.all([createSession(2 * 86_400), createClient()])
  const { access_token, device_token, expire } = await exchangeForged(session, client, {})
  expect(expire).toBe((decodeJwt(device_token).exp ?? 0) * 1000)
  expect((await checkAccessToken(access_token, 'openid')).expiresAt).toBe(expire)
})

test('the replay of a forged code revokes no token of another session or client', async () => {
  const [alice, client] = await Promise.all([createSession(), createClient()])
  const { key } = await checkAccessToken(alice.accessToken, 'first-party')
  const forged = { givenKey: key, clientId: client.clientId }
  await expect(exchangeForged(alice, client, forged)).rejects.toMatchObject({ failure: 'invalid_grant' })
  const derived = await exchangeForged(alice, client, {})
  const { key: derivedKey } = await checkAccessToken(derived.access_token, 'openid')
  const [otherSession, otherClient] = await Promise.all([createSession(), createClient()])
  for (const [session, to] of [
    [otherSession, client],
    [alice, otherClient],
  ] as const)
    await expect(exchangeForged(session, to, { givenKey: derivedKey })).rejects.toMatchObject({
      failure: 'invalid_grant',
    })
  for (const token of [alice.accessToken, derived.access_token])
    expect((await checkAccessToken(token, 'openid')).userId).toBe(alice.userId)
})
