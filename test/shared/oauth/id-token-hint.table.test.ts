import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it, vi } from 'vitest'
import { handler as rotate } from '../../../functions/schedule/rotate-signing-keys.ts'
import { readIdTokenHint } from '../../../shared/oauth/id-token-hint.ts'
import { isArchived, readKeySet, thumbprint } from '../../../shared/keys/set.ts'
import { signDeviceToken } from '../../../shared/tokens/device-token.ts'
import { useOwnKeys } from '../../support/own-keys.ts'

const { renew } = useOwnKeys()
const day = 86_400_000
const call = (event: object) => rotate(event, { awsRequestId: randomUUID() })

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.stubEnv('BASE_URL', 'https://issuer.example.com')
  await renew()
  await call({})
})

const signToken = () =>
  signDeviceToken({
    userId: 42,
    clientId: 'client',
    sessionId: 'session',
    scopes: ['openid'],
    accessToken: 'opaque',
    expiresAt: Date.now() + 3_600_000,
    authenticatedAt: Date.now(),
  })

const told = { userId: 42, clientId: 'client' }

it('a device_token is a hint for its user, whatever its client, also after it has expired', async () => {
  const token = await signToken()
  expect(await readIdTokenHint(token)).toEqual(told)
  vi.setSystemTime(Date.now() + 2 * day)
  expect(await readIdTokenHint(token)).toEqual(told)
})

it('a device_token stays a hint when its key is no longer in the JWKS, revoked, and archived', async () => {
  const token = await signToken()
  const [key] = (await readKeySet()).keys
  const kid = key?.kid ?? ''
  await call({ action: 'revoke', kid })
  expect(await readIdTokenHint(token)).toEqual(told)
  for (let days = 0; days < 60 && !(await isArchived(kid)); days += 1) {
    vi.setSystemTime(Date.now() + day)
    await call({})
  }
  expect(await isArchived(kid)).toBe(true)
  expect(await readIdTokenHint(token)).toEqual(told)
})

it('a text that this service has not signed is no hint', async () => {
  const token = await signToken()
  const [header = '', payload = '', signature = ''] = token.split('.')
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = await exportJWK(publicKey)
  const [ours] = (await readKeySet()).keys
  const signByAnother = (kid: string) =>
    new SignJWT({ iss: 'https://issuer.example.com', sub: '42', aud: 'client' })
      .setProtectedHeader({ alg: 'RS256', kid })
      .sign(privateKey)
  const forged = Buffer.from('{"iss":"https://issuer.example.com","sub":"43","aud":"client"}').toString(
    'base64url',
  )
  const unsigned = Buffer.from('{"alg":"none","kid":"KID"}'.replace('KID', ours?.kid ?? '')).toString(
    'base64url',
  )
  for (const text of [
    '',
    'nonsense',
    'a.b.c',
    `${header}.${payload}`,
    `${header}.${forged}.${signature}`,
    `${unsigned}.${payload}.`,
    await signByAnother(ours?.kid ?? ''),
    await signByAnother(thumbprint({ n: jwk.n ?? '', e: jwk.e ?? '' })),
    await signByAnother('../KEYS'),
  ])
    expect(await readIdTokenHint(text), text).toBeUndefined()
})

it('a token of another deployment, under another issuer, is no hint', async () => {
  const token = await signToken()
  vi.stubEnv('BASE_URL', 'https://another.example.com')
  expect(await readIdTokenHint(token)).toBeUndefined()
})
