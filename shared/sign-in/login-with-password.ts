import { randomUUID } from 'node:crypto'
import { readItems } from '../db/read.ts'
import { Failure } from '../errors.ts'
import { publishEvent } from '../events/publish-event.ts'
import { errorSummary, log } from '../log.ts'
import { maskEmail, normalizeEmail } from '../users/identity.ts'
import { emailKey, emailOwner, readUser, replacePasswordHash, type User } from '../users/user.ts'
import { enforceGuessLimit, guessLimits, recordFailedGuess } from './guess-limit.ts'
import { newLoginTicket, putLoginTicket, ticketExpiry } from './login-ticket.ts'
import { claimMail, digestMailedCode, mailRequested, newMailedCode } from './mailed-code.ts'
import { dummyHash, hashPassword, verifyPassword } from './password.ts'

/** Methods of the second factor, in the order in which they are offered. */
export const twoFactorMethods = ['EMAIL', 'AUTHENTICATOR', 'PASSKEY'] as const
type TwoFactorMethod = (typeof twoFactorMethods)[number]

/**
 * Checks a password and issues a login ticket for the second factor, and mails a code that works only with
 * this ticket. Throws as checkPassword, and `too_many_requests` when the user can get no more mail this hour
 * and has no other second factor.
 */
export async function loginWithPassword(email: string, password: string, sourceIp: string) {
  const user = await checkPassword(email, password, sourceIp)
  const now = Date.now()
  const enrolled = enrolledMethods(user)
  const mail = await claimMail(user, now)
  if (!mail.allowed && enrolled.length === 0) {
    throw new Failure('too_many_requests', { retryAfterSeconds: mail.retryAfterSeconds })
  }
  const ticket = newLoginTicket()
  const code = mail.allowed ? newMailedCode() : undefined
  const expiresAt = ticketExpiry(now)
  const [mailed] = await Promise.all([
    code !== undefined && requestCodeMail(user.email, code, expiresAt, { optional: enrolled.length > 0 }),
    putLoginTicket(ticket, {
      userId: user.userId,
      normalizedEmail: normalizeEmail(email),
      codeDigest: code === undefined ? undefined : digestMailedCode(ticket, code),
      expiresAt,
    }),
  ])
  return {
    need_two_factor: true as const,
    login_ticket: ticket,
    email: maskEmail(user.email),
    two_factor_methods: mailed ? (['EMAIL', ...enrolled] satisfies TwoFactorMethod[]) : enrolled,
  }
}

/** A user id that no user has. Reading it costs the same as reading a user. */
const unknownUserId = 0

/**
 * Finds the user with this email address and password. Throws the same `bad_credentials` for an unknown
 * address, a wrong password, a user without a password and a disabled user, after the same calls and the same
 * work; or `too_many_requests` for a source that has guessed too often.
 */
async function checkPassword(email: string, password: string, sourceIp: string): Promise<User> {
  const now = Date.now()
  const address = normalizeEmail(email)
  const limits = guessLimits(sourceIp, address)
  const [emailItem, ...counters] = await readItems([emailKey(address), ...limits.map(({ key }) => key)], {
    consistent: true,
  })
  enforceGuessLimit(limits, counters, now)
  const userId = emailOwner(emailItem) ?? unknownUserId
  const user = await readUser(userId, { consistent: true })
  const { right, outdated } = await verifyPassword(password, user?.loginPassword ?? dummyHash)
  if (!right || user?.loginPassword === undefined || user.disabled) {
    await recordFailedGuess(limits, counters, now)
    throw new Failure('bad_credentials')
  }
  if (outdated) await replacePasswordHash(userId, user.loginPassword, await hashPassword(password))
  return user
}

/** The second factors that a user has besides the mailed code. */
function enrolledMethods({ totpSecret, passkey }: User): TwoFactorMethod[] {
  return [
    ...(totpSecret === undefined ? [] : (['AUTHENTICATOR'] as const)),
    ...(passkey ? (['PASSKEY'] as const) : []),
  ]
}

/**
 * Requests the mail through the event bus, so that a slow or failed mail service neither delays nor fails the
 * sign-in. Resolves with whether the mail was requested. A failed bus fails the sign-in only if the user has
 * no other second factor.
 */
async function requestCodeMail(
  to: string,
  code: string,
  expiresAt: number,
  { optional }: { optional: boolean },
): Promise<boolean> {
  const detail = { mail_id: randomUUID(), to, code, expires_at: expiresAt }
  try {
    await publishEvent(mailRequested, detail)
    return true
  } catch (error) {
    if (!optional) throw error
    log.error('a sign-in goes on without its mail', { cause: errorSummary(error) })
    return false
  }
}
