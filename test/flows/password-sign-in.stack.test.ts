import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import * as v from 'valibot'
import { expect, test, vi } from 'vitest'
import { requireEnv } from '../../shared/env.ts'
import { putEvent } from '../support/bus.ts'
import { patience } from '../support/quirks.ts'
import { markSecret } from '../support/mark-secret.ts'
import { mailedCode } from '../support/outbox.ts'
import { authenticatorCode, newRegistration, type TestUser, toTestUser } from '../support/sign-in.ts'

const Envelope = v.object({ code: v.number(), msg: v.string(), data: v.unknown() })
const LoginResult = v.object({ login_ticket: v.string() })
const UserDetails = v.object({ access_token: v.string(), device_token: v.string(), expire: v.number() })

/** A loopback address that no other test uses, because the service counts guesses by source address. */
const newLoopback = () => `127.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(1, 255)}`

/** Posts JSON from the given loopback address. */
async function post(path: string, body: object, from: string, headers: Record<string, string> = {}) {
  const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
  const outgoing = request(requireEnv('BASE_URL') + path, { ...options, localAddress: from })
  const [incoming] = (await once(outgoing.end(JSON.stringify(body)), 'response')) as [IncomingMessage]
  return { status: incoming.statusCode, ...v.parse(Envelope, await json(incoming)) }
}

const login = ({ email, password }: Pick<TestUser, 'email' | 'password'>, from: string) =>
  post('/user/login-with-password', { email, login_password: password }, from)

async function openTicket(user: TestUser, from: string): Promise<string> {
  return markSecret(v.parse(LoginResult, (await login(user, from)).data).login_ticket)
}

test('after user.registered, the user signs in by mailed code and authenticator, then out', async () => {
  const detail = newRegistration()
  await putEvent('user.registered', detail)
  const user = toTestUser(detail)
  for (const secret of [user.email, user.password, user.totpSecret]) await markSecret(secret)
  const from = newLoopback()
  const ticket = await vi.waitFor(() => openTicket(user, newLoopback()), {
    timeout: patience(20_000),
    interval: 250,
  })
  const byMail = await post(
    '/user/login/2fa',
    { email: user.email, login_ticket: ticket, method: 'EMAIL', validate_code: await mailedCode(user.email) },
    from,
  )
  const second = await openTicket(user, from)
  const code = await authenticatorCode(user.totpSecret)
  const byAuthenticator = await post(
    '/user/login/2fa',
    { email: user.email, login_ticket: second, method: 'AUTHENTICATOR', authenticator_code: code },
    from,
  )
  const [one, other] = [byMail, byAuthenticator].map(({ data }) => v.parse(UserDetails, data))

  for (const details of [one, other]) {
    await markSecret(details?.access_token ?? '')
    await markSecret(details?.device_token ?? '')
  }

  const baseUrl = requireEnv('BASE_URL')
  const keys = createRemoteJWKSet(new URL(`${baseUrl}/.well-known/jwks.json`))
  const { payload } = await jwtVerify(one?.device_token ?? '', keys, { issuer: baseUrl })
  expect(payload).toMatchObject({
    sub: String(user.userId),
    exp: (one?.expire ?? 0) / 1000,
    amr: ['pwd', 'otp'],
  })

  const logout = (token: string | undefined) =>
    post('/user/logout', { id: String(user.userId) }, from, { authorization: `bearer ${token ?? ''}` })
  expect(await logout(one?.access_token)).toMatchObject({ status: 200, code: 0, data: null })
  expect(await logout(one?.access_token)).toMatchObject({ status: 401, code: 40100 })
  expect(await logout(other?.access_token)).toMatchObject({ status: 200, code: 0 })
})
