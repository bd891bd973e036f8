import { type Write, writeIf } from '../db/write.ts'
import { publishEvent } from '../events/publish-event.ts'
import { signInKey, type SignInRecord } from './record.ts'
import { mailRequested } from './ticket.ts'

/** How long a warning is worth delivering. */
export const warningLifetimeMilliseconds = 3_600_000

/**
 * The kinds of warnings, as events name them: twenty wrong codes in an hour, a hundred in a row, and that no
 * more codes are mailed. Users are told of the first again after an hour, of the others only after a sign-in
 * or a new secret.
 */
export const warningKinds = ['wrong_codes', 'codes_closed', 'no_more_mails'] as const
type Warning = (typeof warningKinds)[number]

/** How long a claim keeps other requests from sending the warning, before the mail is requested. */
const claimMilliseconds = 60_000

/**
 * Tells a user by mail that somebody who knows their password tries to sign in: once, also when several
 * requests meet the limit at once. A request claims the mail by a negative instant, and notes that it was
 * requested by a positive one. If it dies in between, a request more than a minute later tries again.
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
