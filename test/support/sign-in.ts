import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { createGuardrails, generate } from 'otplib'
import { handler as registered } from '../../functions/intake/user.registered.ts'
import { handler as updated } from '../../functions/intake/user.updated.ts'
import { applyEvent } from './apply-event.ts'

/** Returns the MD5 of a password, which is what clients send. */
export const md5 = (password: string): string => createHash('md5').update(password).digest('hex')

/** A user of one test, with password and TOTP secret. */
export interface TestUser {
  userId: number
  email: string
  /** MD5 of the password. Clients send it in place of the password. */
  password: string
  totpSecret: string
}

/** Returns a user id that no other test uses. */
export const newUserId = (): number => randomInt(1_000_000, 2 ** 47)

/** Builds the `detail` of a `user.registered` event. Default: a new user with password and TOTP secret. */
export function newRegistration(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  const userId = newUserId()
  return {
    user_id: userId,
    email: `User.${userId}@example.com`,
    nickname: `User ${userId}`,
    login_password: md5(`password ${userId}`),
    totp_secret: base32(randomBytes(20)),
    registered_at: 1_700_000_000_000,
    ...overrides,
  }
}

/** Applies a `user.registered` event with its handler, in this process. */
export const register = (detail: Record<string, unknown>) => applyEvent(registered, detail)

/** Applies a `user.updated` event with its handler, in this process. Defaults: a new id, and `at` = 1. */
export const update = (detail: Record<string, unknown>) =>
  applyEvent(updated, { update_id: randomUUID(), at: 1_700_000_000_000, ...detail })

/** Registers a new user for a test. */
export async function createUser(overrides: Record<string, unknown> = {}): Promise<TestUser> {
  const detail = newRegistration(overrides)
  await register(detail)
  return toTestUser(detail)
}

/** The test user that a registration describes. */
export const toTestUser = (registration: Record<string, unknown>): TestUser => ({
  userId: Number(registration['user_id']),
  email: String(registration['email']),
  password: String(registration['login_password']),
  totpSecret: String(registration['totp_secret']),
})

/** Computes the code that an authenticator shows at a given time (epoch milliseconds). */
export const authenticatorCode = (secret: string, at: number = Date.now()): Promise<string> =>
  generate({ secret, epoch: Math.floor(at / 1000), guardrails: createGuardrails({ MIN_SECRET_BYTES: 10 }) })

/** Returns a code of six digits other than the given one. */
export const anotherCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

/** Returns a TOTP that is wrong in the current time step, the two before and the two after it. */
export async function wrongTotp(secret: string): Promise<string> {
  const steps = [-2, -1, 0, 1, 2].map((step) => authenticatorCode(secret, Date.now() + step * 30_000))
  const right = await Promise.all(steps)
  let code = '000000'
  while (right.includes(code)) code = anotherCode(code)
  return code
}

/** Returns an address in an IPv6 network that no other test uses. */
export const newSourceIp = (): string =>
  `2001:db8:${randomInt(0x1_0000).toString(16)}:${randomInt(0x1_0000).toString(16)}::1`

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  return (bits.match(/.{5}/g) ?? []).map((five) => alphabet[Number.parseInt(five, 2)]).join('')
}
