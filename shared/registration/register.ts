import { type Registration, registerMember } from '../community/join.ts'
import type { Write } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { withMacDigest } from '../events/mac-digest.ts'
import { normalizeEmail, type UserFields } from '../users/identity.ts'
import { claimEmail, putUser, requireUser } from '../users/user.ts'
import { type SentFields, toStored } from './sent-fields.ts'
import { putSignInRecord } from '../sign-in/record.ts'

/** The fields of a user that a registration sets; the others have a value of their own at first. */
export type RegisteredField = Exclude<keyof UserFields, 'passkey' | 'disabled'>

/** Data of a user's registration by the business server. */
export interface UserRegistration extends Omit<Registration, 'nickname' | 'email'> {
  fields: Pick<UserFields, 'nickname' | 'email'> & Pick<SentFields, RegisteredField>
}

/**
 * Registers a user, exactly once. Throws RejectedEvent for a user id or email address that is taken and for a
 * user who is their own referrer, and OutOfOrderEvent while the referrer is not registered.
 */
export async function registerUser(user: UserRegistration, record: EventRecord): Promise<Outcome> {
  const [membership, writes, macRecord] = await Promise.all([
    registerMember({ ...user, ...user.fields }),
    userWrites(user),
    withMacDigest(record),
  ])
  const outcome = await applyOnce(macRecord, (at) => [...writes, ...membership.writes(at)])
  await membership.notify(outcome)
  return outcome
}

async function userWrites(user: UserRegistration): Promise<Write[]> {
  const { userId, referrerId, registeredAt, fields } = user
  const stored = await toStored(userId, fields)
  return [
    putUser({ ...stored, userId, referrerId, registeredAt }),
    putSignInRecord(userId, stored),
    claimEmail(normalizeEmail(fields.email), userId),
    ...(referrerId === undefined ? [] : [requireUser(referrerId, 'unknown_referrer')]),
  ]
}
