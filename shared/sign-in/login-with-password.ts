import { randomUUID } from 'node:crypto'
import { Failure } from '../errors.ts'
import { publishEvent } from '../events/publish-event.ts'
import { errorSummary, log } from '../log.ts'
import { retry } from '../retry.ts'
import { maskEmail, normalizeEmail } from '../users/identity.ts'
import { giveBackSourceTry } from './guess-limit.ts'
import { newLoginTicket, ticketExpiry, ticketHash } from './login-ticket.ts'
import {
  digestMailedCode,
  freeMailSlot,
  mailDelayed,
  mailRequested,
  newMailedCode,
  secondsUntilFreeSlot,
} from './mailed-code.ts'
import { failedAttempt, giveBackAttempt, type PasswordAttempt, reserveAttempt } from './password-attempt.ts'
import { addTicket, giveBackPasswordTry, SignInRecordChanged } from './password-step.ts'
import { dummyHash, hashPassword, verifyPassword } from './password.ts'
import type { SignInRecord } from './sign-in-record.ts'

/** Methods of the second factor, in the order in which they are offered. */
export const twoFactorMethods = ['EMAIL', 'AUTHENTICATOR', 'PASSKEY'] as const
type TwoFactorMethod = (typeof twoFactorMethods)[number]

/**
 * Checks a password and issues a login ticket for the second factor, and mails a code that works only with
 * this ticket. Throws the same `bad_credentials` for an unknown address, a wrong password, a user without a
 * password and a disabled user; `too_many_requests` at a limit of wrong passwords, and when the user can get
 * no more mail this hour and has no other second factor.
 */
export async function loginWithPassword(email: string, password: string, sourceIp: string) {
  const attempt = await reserveAttempt(normalizeEmail(email), sourceIp, Date.now())
  const checked = await checkAttempt(attempt, password)
  const [{ record, ticket, code, stored }] = await Promise.all([
    openTicket(attempt, checked, password),
    giveBackSourceTry(attempt.source, attempt.sourceItem, attempt.at),
  ])
  const enrolled = enrolledMethods(record)
  // The mail is requested only when its slot is taken: see addTicket.
  const mailed = code !== undefined && (await requestCodeMail(record, code, stored))
  return {
    need_two_factor: true as const,
    login_ticket: ticket,
    email: maskEmail(record.email),
    two_factor_methods: mailed ? (['EMAIL', ...enrolled] satisfies TwoFactorMethod[]) : enrolled,
  }
}

/** Checks the password of an attempt. When the check itself fails, the try does not count. */
async function checkAttempt(attempt: PasswordAttempt, password: string): Promise<CheckedUser> {
  let checked
  try {
    checked = await checkPassword(attempt.record, password)
  } catch (error) {
    await giveBackAttempt(attempt)
    throw error
  }
  if (checked === undefined) throw await failedAttempt(attempt)
  return checked
}

/** A user whose password was found right, and its new hash if the stored one has outdated parameters. */
interface CheckedUser {
  record: SignInRecord
  newHash: string | undefined
}

/**
 * Checks a password. The result is undefined for an unknown user, a wrong password, a user without a password
 * and a disabled user, after the same calls and the same work.
 */
async function checkPassword(
  record: SignInRecord | undefined,
  password: string,
): Promise<CheckedUser | undefined> {
  const { right, outdated } = await verifyPassword(password, record?.loginPassword ?? dummyHash)
  if (!right || record?.loginPassword === undefined || record.disabled) return undefined
  return { record, newHash: outdated ? await hashPassword(password) : undefined }
}

/**
 * Opens a login ticket, with a code to be mailed when one of the user's mail slots is free. When the record
 * has changed meanwhile, the decision is made again, and a new password is compared again.
 */
async function openTicket({ address, key, at }: PasswordAttempt, checked: CheckedUser, password: string) {
  const now = Date.now()
  let { record, newHash } = checked
  return retry(
    async () => {
      const mailSlot = freeMailSlot(record.mails, now)
      if (mailSlot === undefined && enrolledMethods(record).length === 0) {
        await giveBackPasswordTry(key, at)
        log.appendKeys({ limit: 'mail' })
        throw new Failure('too_many_requests', { retryAfterSeconds: secondsUntilFreeSlot(record.mails, now) })
      }
      const ticket = newLoginTicket(record.userId)
      const code = mailSlot && newMailedCode()
      const expiresAt = ticketExpiry(now)
      const codeDigest = code === undefined ? undefined : digestMailedCode(ticket, code)
      const stored = { hash: ticketHash(ticket, address), expiresAt, codeDigest }
      try {
        await addTicket(record, { reservedAt: at, ticket: stored, mailSlot, newHash }, now)
      } catch (error) {
        if (!(error instanceof SignInRecordChanged)) throw error
        const isSamePassword = error.record.loginPassword === record.loginPassword && !error.record.disabled
        const again = isSamePassword
          ? { record: error.record, newHash }
          : await checkPassword(error.record, password)
        if (again === undefined) throw new Failure('bad_credentials')
        ;({ record, newHash } = again)
        throw error
      }
      return { record, ticket, code, stored }
    },
    (error) => error instanceof SignInRecordChanged,
  )
}

/** The second factors that a user has besides the mailed code. */
function enrolledMethods({ totpSecret, passkey }: SignInRecord): TwoFactorMethod[] {
  return [
    ...(totpSecret === undefined ? [] : (['AUTHENTICATOR'] as const)),
    ...(passkey ? (['PASSKEY'] as const) : []),
  ]
}

/**
 * Requests the mail through the event bus, so that a slow or failed mail service neither delays nor fails the
 * sign-in. For a user with an authenticator the mail waits, because most never need it. Resolves with whether
 * the mail was requested. A failed bus fails the sign-in only if the user has no other second factor.
 */
async function requestCodeMail(
  record: SignInRecord,
  code: string,
  { hash, expiresAt }: { hash: string; expiresAt: number },
): Promise<boolean> {
  const detail = { mail_id: randomUUID(), to: record.email, code, expires_at: expiresAt }
  try {
    await (record.totpSecret === undefined
      ? publishEvent(mailRequested, { ...detail, kind: 'code' })
      : publishEvent(mailDelayed, { ...detail, user_id: record.userId, ticket_hash: hash }))
    return true
  } catch (error) {
    if (enrolledMethods(record).length === 0) throw error
    log.error('a sign-in goes on without its mail', { cause: errorSummary(error) })
    return false
  }
}
