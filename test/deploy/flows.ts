import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import * as v from 'valibot'
import { requireEnv } from '../../shared/env.ts'
import { putEvents } from '../support/put-event.ts'
import { authenticatorCode, newRegistration } from '../support/sign-in.ts'

/** A signed-in user with their access_token. */
export interface SignedIn {
  userId: number
  token: string
}

const Ticket = v.object({ login_ticket: v.string() })
const UserDetails = v.object({ access_token: v.string(), device_token: v.string() })

/** Registers a user by event, signs them in by password and authenticator, and verifies the device_token. */
export async function signIn(): Promise<SignedIn> {
  const user = newRegistration()
  const { email, login_password: password } = user
  await putEvents('user.registered', [user])
  const baseUrl = requireEnv('BASE_URL')
  await eventually(async () => {
    const { text } = await call('/.well-known/jwks.json')
    assert.match(text, /"kid"/, 'a new deployment has its first signing key within a minute or so')
  })
  const login_ticket = await eventually(async () => {
    const { code, data } = await call('/user/login-with-password', {
      body: { email, login_password: password },
    })
    assert.equal(code, 0, 'the password opens a ticket')
    return v.parse(Ticket, data).login_ticket
  })
  const { code, data } = await call('/user/login/2fa', {
    body: {
      email,
      login_ticket,
      method: 'AUTHENTICATOR',
      authenticator_code: await authenticatorCode(String(user['totp_secret'])),
    },
  })
  assert.equal(code, 0, 'the authenticator completes the sign-in')
  const details = v.parse(UserDetails, data)
  const keys = createRemoteJWKSet(new URL(`${baseUrl}/.well-known/jwks.json`))
  const { payload } = await jwtVerify(details.device_token, keys, { issuer: baseUrl })
  assert.equal(payload.sub, String(user['user_id']), 'the device_token names the user')
  return { userId: Number(user['user_id']), token: details.access_token }
}

/** Credits the user's wallet by event, checks the exact balance and the bill over the API, and signs out. */
export async function useWallet({ userId, token }: SignedIn): Promise<void> {
  const amount = '0.100000000000000001'
  await putEvents('wallet.adjusted', [
    {
      adjustment_id: randomUUID(),
      user_id: userId,
      wallet: 'asset',
      currency: 'USDT',
      amount,
      direction: 1,
      reason: 'deployment test',
      at: Date.now(),
    },
  ])
  await eventually(async () => {
    const { text } = await call('/account/info', { token })
    assert.ok(text.includes(`"balance":${amount},`), 'the wallet has the exact balance')
  })
  const bills = await call('/account/bills?current=1&size=20', { token })
  assert.ok(bills.text.includes('"total":1,'), 'there is one bill')
  const logout = await call('/user/logout', { token, body: { id: String(userId) } })
  assert.equal(logout.code, 0, 'the user signs out')
  assert.equal((await call('/account/info', { token })).status, 401, 'the token is no longer valid')
}

const Envelope = v.object({ code: v.number(), data: v.unknown() })

async function call(path: string, { token, body }: { token?: string; body?: object } = {}) {
  const response = await fetch(requireEnv('BASE_URL') + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, ...v.parse(Envelope, JSON.parse(text)) }
}

const maxAttempts = 8

/**
 * Repeats a check for two minutes, with doubling pauses: more frequent attempts would count as password
 * guessing.
 */
async function eventually<T>(check: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await check()
    } catch (error) {
      if (attempt === maxAttempts) throw error
      await wait(500 * 2 ** attempt)
    }
  }
}
