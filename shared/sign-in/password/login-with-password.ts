import { randomUUID } from 'node:crypto'
import { publishEvent } from '../../events/publish-event.ts'
import { errorSummary, log } from '../../log.ts'
import { maskEmail } from '../../users/identity.ts'
import { normalizeEmail } from '../../users/normalize-email.ts'
import { giveBackSourceTry } from '../limits/source.ts'
import type { SignInRecord } from '../record.ts'
import { mailDelayed, mailRequested } from '../ticket.ts'
import { failedAttempt, giveBackAttempt, reserveAttempt } from './attempt.ts'
import { checkPassword, enrolledMethods, openTicket, type TwoFactorMethod } from './open-ticket.ts'

/**
 * Checks a password, issues a login ticket, and mails a code that works only with this ticket. Throws the
 * same `bad_credentials` for an unknown address, a wrong password, a user without a password and a disabled
 * user. Throws `too_many_requests` after too many wrong passwords. Also throws it if no more codes can be
 * mailed to a user who has no other second factor.
 */
export async function loginWithPassword(email: string, password: string, sourceIp: string) {
  const attempt = await reserveAttempt(normalizeEmail(email), sourceIp, Date.now())
  const checked = await checkPassword(attempt.record, password).catch(async (error: unknown) => {
    // A try must not count if its password could not be compared.
    await giveBackAttempt(attempt)
    throw error
  })
  if (checked === undefined) throw await failedAttempt(attempt)
  const [{ record, ticket, code, stored }] = await Promise.all([
    openTicket(attempt, checked, password),
    giveBackSourceTry(attempt.source, attempt.at),
  ])
  const enrolled = enrolledMethods(record)
  // The mail is requested only after openTicket has counted it, so that no user gets too many mails.
  const mailed = code !== undefined && (await requestCodeMail(record, code, stored))
  return {
    need_two_factor: true as const,
    login_ticket: ticket,
    email: maskEmail(record.email),
    two_factor_methods: mailed ? (['EMAIL', ...enrolled] satisfies TwoFactorMethod[]) : enrolled,
  }
}

/**
 * Requests the mail by an event, so that a slow or failed mail service does not affect the sign-in. Delays
 * the mail of a user with an authenticator, because most such users need no mailed code. If the event cannot
 * be sent, resolves with false for a user who has another second factor. Throws for any other user.
 */
async function requestCodeMail(
  record: SignInRecord,
  code: string,
  { hash, expiresAt }: { hash: string; expiresAt: number },
): Promise<boolean> {
  const detail = { mail_id: randomUUID(), to: record.email, code, expires_at: expiresAt }
  try {
    await (record.totp_secret === undefined
      ? publishEvent(mailRequested, { ...detail, kind: 'code' })
      : publishEvent(mailDelayed, { ...detail, user_id: record.user_id, ticket_hash: hash }))
    return true
  } catch (error) {
    if (enrolledMethods(record).length === 0) throw error
    log.error('a sign-in goes on without its mail', { cause: errorSummary(error) })
    return false
  }
}
