import { type Write, writeIf } from '../db/write.ts'
import { publishEvent } from '../events/publish-event.ts'
import { signInKey, type SignInRecord } from './record.ts'
import { mailRequested } from './ticket.ts'

/** A warning is not sent if it was requested longer ago than this. */
export const warningLifetimeMilliseconds = 3_600_000

/**
 * The kinds of warnings. `wrong_codes`: twenty wrong codes in an hour. `codes_closed`: a hundred wrong codes
 * in a row. `no_more_mails`: the hourly limit of mails is reached. `wrong_codes` can be sent again after an
 * hour, the others only after a completed sign-in, a new password or a new TOTP secret.
 */
export const warningKinds = ['wrong_codes', 'codes_closed', 'no_more_mails'] as const
type Warning = (typeof warningKinds)[number]

/** Time limit for sending a warning. If a request has not sent it by then, another request may send it. */
const claimMilliseconds = 60_000

/**
 * Warns a user by mail that somebody who knows the password tries to sign in. Only one of several
 * simultaneous requests sends the warning. It first stores the time as a negative number. If the number is
 * still negative after a minute, another request may send the warning.
 */
export async function warnOwner(record: SignInRecord, kind: Warning, now: number): Promise<void> {
  const { user_id: userId, email } = record
  const period = kind === 'wrong_codes' ? warningLifetimeMilliseconds : Infinity
  const last = record.told[kind]
  const isDue = last === undefined || (last < 0 ? -last + claimMilliseconds : last + period) <= now
  const note = (at: number, before: number | undefined): Write => ({
    Update: {
      Key: signInKey(userId),
      UpdateExpression: 'SET told.#kind = :at',
      ConditionExpression: before === undefined ? 'attribute_not_exists(told.#kind)' : 'told.#kind = :before',
      ExpressionAttributeNames: { '#kind': kind },
      ExpressionAttributeValues: { ':at': at, ...(before !== undefined && { ':before': before }) },
    },
  })
  if (!isDue || !(await writeIf(note(-now, last)))) return
  await publishEvent(mailRequested, {
    mail_id: `${kind}-${userId}-${now}`,
    kind,
    to: email,
    expires_at: now + warningLifetimeMilliseconds,
  })
  await writeIf(note(now, -now))
}
