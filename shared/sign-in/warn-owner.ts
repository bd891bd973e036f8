import { publishEvent } from '../events/publish-event.ts'
import { claimWarning, giveBackWarning } from './code-step.ts'
import { mailRequested, warningLifetimeMilliseconds } from './mailed-code.ts'
import type { SignInRecord } from './sign-in-record.ts'

const hourMilliseconds = 3_600_000

/**
 * Tells a user by mail that somebody who knows their password tries codes: at most once an hour, also when
 * several requests meet the limit at once. If the mail cannot be requested, the next refused request tries
 * again.
 */
export async function warnOwner({ userId, email, warnedAt = 0 }: SignInRecord, now: number): Promise<void> {
  const hourAgo = now - hourMilliseconds
  if (warnedAt > hourAgo || !(await claimWarning(userId, now, hourAgo))) return
  try {
    await publishEvent(mailRequested, {
      mail_id: `wrong-codes-${userId}-${now}`,
      kind: 'wrong_codes',
      to: email,
      expires_at: now + warningLifetimeMilliseconds,
    })
  } catch (error) {
    await giveBackWarning(userId, now)
    throw error
  }
}
