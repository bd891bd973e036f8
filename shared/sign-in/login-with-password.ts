import type { User } from '../users/user.ts'
import { Failure } from '../errors.ts'
import { errorSummary, log } from '../log.ts'
import { checkPassword } from './check-password.ts'
import { claimMail } from './claim-mail.ts'
import { requestCodeMail } from './code-mail.ts'
import { normalizeEmail, maskEmail } from '../users/identity.ts'
import { newLoginTicket, putLoginTicket, ticketExpiry } from './login-ticket.ts'
import { digestMailedCode, newMailedCode } from './mailed-code.ts'

/** Second factors in the order in which they are offered. */
export const twoFactorMethods = ['EMAIL', 'AUTHENTICATOR', 'PASSKEY'] as const
type TwoFactorMethod = (typeof twoFactorMethods)[number]

/**
 * Checks a password and opens the way to the second factor: a ticket, and a code by mail that works for this ticket
 * alone. Throws what checkPassword throws, and `too_many_requests` when the user has had this hour's mails and has no
 * other second factor.
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
    code !== undefined && mailCode(user, code, expiresAt, enrolled.length > 0),
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

/** What a user can prove themself with besides a mailed code. */
function enrolledMethods({ totpSecret, passkey }: User): TwoFactorMethod[] {
  return [
    ...(totpSecret === undefined ? [] : (['AUTHENTICATOR'] as const)),
    ...(passkey ? (['PASSKEY'] as const) : []),
  ]
}

/** Whether the mail is on its way. A bus that is down fails the sign-in only of those who have no other second factor. */
async function mailCode(user: User, code: string, expiresAt: number, spare: boolean): Promise<boolean> {
  try {
    await requestCodeMail(user.email, code, expiresAt)
    return true
  } catch (error) {
    if (!spare) throw error
    log.error('a sign-in goes on without its mail', { cause: errorSummary(error) })
    return false
  }
}
