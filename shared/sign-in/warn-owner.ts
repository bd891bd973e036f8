import { type Write, writeIf } from '../db/write.ts'
import { publishEvent } from '../events/publish-event.ts'
import { signInKey, type SignInRecord, type warningAttributes } from './record.ts'
import { mailRequested } from './ticket.ts'

/** How long a warning is worth delivering. */
export const warningLifetimeMilliseconds = 3_600_000

/**
 * What users are told by mail, where it is noted, and after how long they are told again: the others only
 * after a sign-in or a new secret has removed the note.
 */
const warnings = {
  wrong_codes: { attribute: 'warned_at', period: warningLifetimeMilliseconds },
  codes_closed: { attribute: 'closed_warned_at', period: Infinity },
  no_more_mails: { attribute: 'mails_warned_at', period: Infinity },
} as const satisfies Record<string, { attribute: (typeof warningAttributes)[number]; period: number }>
type Warning = keyof typeof warnings

/** The kinds of warnings, as events name them. */
export const warningKinds = Object.keys(warnings) as [Warning, ...Warning[]]

/** How long a claim keeps other requests from sending the warning, before the mail is requested. */
const claimMilliseconds = 60_000

/**
 * Tells a user by mail that somebody who knows their password tries to sign in: once, also when several
 * requests meet the limit at once. A request claims the mail by a negative instant, and notes that it was
 * requested by a positive one. If it dies in between, a request more than a minute later tries again.
 */
export async function warnOwner(record: SignInRecord, kind: Warning, now: number): Promise<void> {
  const { user_id: userId, email } = record
  const { attribute, period } = warnings[kind]
  const last = record[attribute]
  const isDue = last === undefined || (last < 0 ? -last + claimMilliseconds : last + period) <= now
  const note = (at: number, before: number | undefined): Write => ({
    Update: {
      Key: signInKey(userId),
      UpdateExpression: 'SET #warned = :at',
      ConditionExpression: before === undefined ? 'attribute_not_exists(#warned)' : '#warned = :before',
      ExpressionAttributeNames: { '#warned': attribute },
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
