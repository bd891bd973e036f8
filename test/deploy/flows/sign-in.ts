import assert from 'node:assert/strict'
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import * as v from 'valibot'
import { requireEnv } from '../../../shared/env.ts'
import { putEvents } from '../../support/put-event.ts'
import { authenticatorCode, newRegistration } from '../../support/sign-in.ts'
import { call, eventually } from './call.ts'

/** A signed-in user with their tokens. */
export interface SignedIn {
  userId: number
  token: string
  deviceToken: string
}

const Ticket = v.object({ login_ticket: v.string() })
const UserDetails = v.object({ access_token: v.string(), device_token: v.string() })

/**
 * Maximum time until a new deployment can sign. The rotation makes the first key within a minute. KMS can
 * take five more minutes until the functions can use the key.
 */
const firstKey = { maxMilliseconds: 600_000 }

/** Registers a user by event, signs them in by password and authenticator, and verifies the device_token. */
export async function signIn(): Promise<SignedIn> {
  const userId = newRegistration()['user_id']
  // The password step mails a code to this address of SES's mailbox simulator, which accepts all mails.
  const user = newRegistration({
    user_id: userId,
    email: `success+${String(userId)}@simulator.amazonses.com`,
  })
  const { email, login_password: password } = user
  await putEvents('user.registered', [user])
  await eventually(
    async () => {
      const { text } = await call('/.well-known/jwks.json')
      assert.match(text, /"kid"/, 'the JWKS of a new deployment has no key')
    },
    { ...firstKey, maxPauseMilliseconds: 2_000 },
  )
  const details = await eventually(async () => {
    const ticket = await call('/user/login-with-password', { body: { email, login_password: password } })
    assert.equal(ticket.code, 0, `the password step was answered ${ticket.text}`)
    const signedIn = await call('/user/login/2fa', {
      body: {
        email,
        login_ticket: v.parse(Ticket, ticket.data).login_ticket,
        method: 'AUTHENTICATOR',
        authenticator_code: await authenticatorCode(String(user['totp_secret'])),
      },
    })
    assert.equal(signedIn.code, 0, `the second factor was answered ${signedIn.text}`)
    return v.parse(UserDetails, signedIn.data)
  }, firstKey)
  assert.equal(await verifyDeviceToken(details.device_token), String(userId), 'it names another user')
  return { userId: Number(userId), token: details.access_token, deviceToken: details.device_token }
}

/** Verifies a device_token with the published keys. Returns its `sub`; throws if the token is not valid. */
export async function verifyDeviceToken(token: string): Promise<string | undefined> {
  const issuer = requireEnv('BASE_URL')
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))
  const { payload } = await jwtVerify(token, keys, { issuer })
  return payload.sub
}

/** Returns the id (`kid`) of the key that signed a device_token. */
export const signerOf = (deviceToken: string): string => decodeProtectedHeader(deviceToken).kid ?? ''

/** Signs a user out, and checks that their token has stopped working. */
export async function signOut({ userId, token }: SignedIn): Promise<void> {
  const logout = await call('/user/logout', { token, body: { id: String(userId) } })
  assert.equal(logout.code, 0, `logout was answered ${logout.text}`)
  assert.equal((await call('/account/info', { token })).status, 401, 'the token is still valid')
}
