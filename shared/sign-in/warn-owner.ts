import { publishEvent } from '../events/publish-event.ts'
import { claimWarning, confirmWarning } from './code-step.ts'
import { mailRequested, warningLifetimeMilliseconds } from './mailed-code.ts'
import type { SignInRecord } from './sign-in-record.ts'

/** How long a claim keeps other requests from sending the warning, before the mail is requested. */
const claimMilliseconds = 60_000

/**
 * Tells a user by mail that somebody who knows their password tries codes: at most once an hour, also when
 * several requests meet the limit at once. If the mail is not requested, even because of a crash, a request
 * that is refused more than a minute later tries again.
 */
export async function warnOwner({ userId, email, warnedAt = 0 }: SignInRecord, now: number): Promise<void> {
  const hourAgo = now - warningLifetimeMilliseconds
  const claimed = hourAgo + claimMilliseconds
  if (warnedAt > hourAgo || !(await claimWarning(userId, claimed, hourAgo))) return
  await publishEvent(mailRequested, {
    mail_id: `wrong-codes-${userId}-${now}`,
    kind: 'wrong_codes',
    to: email,
    expires_at: now + warningLifetimeMilliseconds,
  })
  await confirmWarning(userId, claimed, now)
}
