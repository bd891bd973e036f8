import { DisableKeyCommand, EnableKeyCommand } from '@aws-sdk/client-kms'
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, jwtVerify } from 'jose'
import { createHash, randomUUID } from 'node:crypto'
import type { Context } from 'aws-lambda'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { handler as rotate } from '../../../functions/schedule/rotate-signing-keys.ts'
import { handler as jwks } from '../../../functions/well-known/jwks.ts'
import { kms } from '../../../shared/aws/kms.ts'
import { activeKey, readKeySet } from '../../../shared/keys/set.ts'
import { settings } from '../../../shared/settings.ts'
import { signDeviceToken } from '../../../shared/tokens/device-token.ts'
import { issuer } from '../../../shared/env.ts'
import { getEvent } from '../../support/call-endpoint.ts'
import { useOwnKeys } from '../../support/own-keys.ts'
import { tamperCalls } from '../../support/tamper-calls.ts'

const { renew } = useOwnKeys()
const hour = 3_600_000
const call = (event: object) => rotate(event, { awsRequestId: randomUUID() })
const passTime = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds)

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.stubEnv('BASE_URL', 'https://issuer.example.com/')
  await renew()
})
const grant = () => ({
  userId: 42,
  clientId: 'client',
  sessionId: 'session',
  scopes: ['openid'] as const,
  accessToken: 'opaque',
  expiresAt: Date.now() + settings().accessTokenTtlSeconds * 1000,
  authenticatedAt: Date.now() - 5_000,
})

/** The JWKS as a client sees it: fetched from the handler and cached as jose does by default. */
const verifier = () =>
  createRemoteJWKSet(new URL('/.well-known/jwks.json', issuer()), {
    [customFetch]: async () => {
      const answer = await jwks(getEvent('/.well-known/jwks.json'), {} as Context)
      return new Response(answer.body, {
        status: answer.statusCode ?? 500,
        headers: answer.headers as Record<string, string>,
      })
    },
  })

const verify = (token: string, keys: ReturnType<typeof verifier>) =>
  jwtVerify(token, keys, { issuer: issuer(), audience: 'client', algorithms: ['RS256'] })

it('a device_token has the claims of its grant and the kid of the active key', async () => {
  await call({})
  const token = await signDeviceToken(grant())
  expect(decodeProtectedHeader(token)).toEqual({
    alg: 'RS256',
    typ: 'JWT',
    kid: activeKey(await readKeySet())?.kid,
  })
  const { payload } = await verify(token, verifier())
  expect(payload).toEqual({
    iss: 'https://issuer.example.com',
    sub: '42',
    aud: 'client',
    azp: 'client',
    exp: Math.floor(grant().expiresAt / 1000),
    iat: Math.floor(Date.now() / 1000),
    auth_time: Math.floor((Date.now() - 5_000) / 1000),
    jti: payload.jti,
    sid: 'session',
    amr: ['pwd', 'otp'],
    acr: 'urn:account-service:two-factors',
    at_hash: createHash('sha256').update('opaque').digest().subarray(0, 16).toString('base64url'),
  })
})

describe('a device_token', () => {
  const more = { nonce: 'n', email: 'a@example.com', nickname: 'Alice' }
  const payloadOf = async (scopes: readonly ('openid' | 'profile' | 'email')[]) => {
    await call({})
    const token = await signDeviceToken({ ...grant(), ...more, scopes })
    return (await verify(token, verifier())).payload
  }

  it('has the nonce', async () => {
    expect(await payloadOf(['openid'])).toMatchObject({ nonce: 'n' })
  })

  it('has no user claim that its scopes do not allow', async () => {
    const payload = await payloadOf(['openid'])
    for (const claim of ['email', 'email_verified', 'name']) expect(payload).not.toHaveProperty(claim)
  })

  it('has the user claims that its scopes allow', async () => {
    const claims = { email: 'a@example.com', email_verified: true, name: 'Alice' }
    expect(await payloadOf(['openid', 'profile', 'email'])).toMatchObject(claims)
  })
})

it('signing a device_token with a cached key set makes one KMS call and no other AWS call', async () => {
  await call({})
  await signDeviceToken(grant())
  const calls: string[] = []
  const { restore } = tamperCalls(({ name, perform }) => {
    calls.push(name)
    return perform()
  })
  await signDeviceToken(grant())
  restore()
  expect(calls).toEqual(['SignCommand'])
})

it('signDeviceToken throws the error “unavailable” while there is no signing key', async () => {
  await expect(signDeviceToken(grant())).rejects.toMatchObject({ failure: 'unavailable' })
})

it('when the cached signing key has been revoked, signDeviceToken uses its successor at once', async () => {
  await call({})
  const before = decodeProtectedHeader(await signDeviceToken(grant())).kid
  await call({ action: 'revoke', kid: before })
  const token = await signDeviceToken(grant())
  expect(decodeProtectedHeader(token).kid).not.toBe(before)
})

it('signDeviceToken throws unavailable while the active key is disabled in KMS', async () => {
  await call({})
  const { arn = '' } = activeKey(await readKeySet()) ?? {}
  await kms.send(new DisableKeyCommand({ KeyId: arn }))
  await expect(signDeviceToken(grant())).rejects.toMatchObject({
    failure: 'unavailable',
    retryAfterSeconds: 5,
  })
  await kms.send(new EnableKeyCommand({ KeyId: arn }))
  await signDeviceToken(grant())
})

// Clients cache the JWKS as jose does by default.
it('every device_token issued during two key rotations can be verified until it expires', async () => {
  await call({})
  const keys = verifier()
  const signers = new Set<string | undefined>()
  for (let day = 0; day < 2 * 31; day += 1) {
    // This signature puts the key set into the signer's cache. The rotation then makes that copy outdated.
    const early = await signDeviceToken(grant())
    await call({})
    const tokens = [early, await signDeviceToken(grant())]
    for (const token of tokens) {
      signers.add(decodeProtectedHeader(token).kid)
      await verify(token, keys)
    }
    passTime(24 * hour - 1_000)
    for (const token of tokens) await verify(token, keys)
    passTime(1_000)
  }
  expect(signers.size).toBe(3)
}, 180_000)
