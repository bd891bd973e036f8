import { type Registration, registerMember } from '../community/join.ts'
import { putNew, type Write } from '../db/write.ts'
import { applyOnce, type EventRecord, isRecorded, rejectUnlessKnown } from '../events/event-record.ts'
import type { Result } from '../events/outcome.ts'
import { withMacDigest } from '../events/mac-digest.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { encryptTotpSecret } from '../sign-in/code/totp.ts'
import { hashPassword } from '../sign-in/password/digest.ts'
import { putSignInRecord } from '../sign-in/record.ts'
import { emailKey, fieldsIn, type UserChanges, type UserFields } from '../users/identity.ts'
import { normalizeEmail } from '../users/normalize-email.ts'
import { requireUser, userKey } from '../users/user.ts'

/**
 * New values of a user's fields from the business server. The password is given as its MD5 in lower-case
 * hexadecimal digits, and the TOTP secret in base32.
 */
export type SentFields = Omit<UserChanges, 'totp_secret'> & { totp_secret?: string | undefined }

type Secrets = Pick<UserChanges, 'login_password' | 'totp_secret'>

/** Converts new values of fields to their stored form: hashes the password, encrypts the TOTP secret. */
export async function toStored<Fields extends SentFields>(
  userId: number,
  fields: Fields,
): Promise<Omit<Fields, keyof Secrets> & Secrets> {
  const { login_password: password, totp_secret: secret, ...rest } = fields
  const [login_password, totp_secret] = await Promise.all([
    password === undefined ? undefined : hashPassword(password),
    secret === undefined ? undefined : encryptTotpSecret(userId, secret),
  ])
  return { ...rest, login_password, totp_secret }
}

/** The fields of a user that a registration sets; the other fields start with a default. */
export type RegisteredField = Exclude<keyof UserFields, 'passkey' | 'disabled'>

/** What the business server sends to register a user. */
export interface UserRegistration extends Omit<Registration, 'nickname' | 'email'> {
  fields: Pick<UserFields, 'nickname' | 'email'> & Pick<SentFields, RegisteredField>
}

/**
 * Registers a user, exactly once. Throws RejectedEvent if the user id or email address is taken, if the user
 * is their own referrer, or while the referrer is not registered.
 */
export async function registerUser(user: UserRegistration, record: EventRecord): Promise<Result> {
  try {
    return await addUser(user, record)
  } catch (error) {
    // The record is looked up without a MAC first, because only a key that was used needs one.
    if (!(error instanceof RejectedEvent) || !(await isRecorded(record))) throw error
    return rejectUnlessKnown(await withMacDigest(record), error)
  }
}

async function addUser(user: UserRegistration, record: EventRecord): Promise<Result> {
  const { userId, referrerId, registeredAt, fields } = user
  // Comes first, because it fails if the referrer is missing. Then no password needs to be hashed.
  const membership = await registerMember({ ...user, ...fields })
  const [stored, macRecord] = await Promise.all([toStored(userId, fields), withMacDigest(record)])
  const result = await applyOnce(macRecord, [
    putUser({ ...stored, userId, referrerId, registeredAt }),
    putSignInRecord(userId, stored),
    claimEmail(normalizeEmail(fields.email), userId),
    ...(referrerId === undefined ? [] : [requireUser(referrerId, 'unknown_referrer')]),
    ...membership.writes,
  ])
  await membership.notify()
  return result
}

/** The write that adds a user. Fails with `user_exists` when the id is registered. */
export const putUser = (
  user: Omit<UserRegistration, 'fields'> & Pick<UserFields, 'nickname' | 'email'>,
): Write => ({
  ...putNew({
    ...userKey(user.userId),
    ...Object.fromEntries(fieldsIn('user', user)),
    userId: user.userId,
    referrerId: user.referrerId,
    registeredAt: user.registeredAt,
    stamps: {},
  }),
  otherwise: () => new RejectedEvent('user_exists'),
})

/** The write that reserves an email address for a user. Fails with `email_taken` when another user has it. */
export const claimEmail = (normalizedEmail: string, userId: number): Write => ({
  Put: {
    Item: { ...emailKey(normalizedEmail), user_id: userId },
    ConditionExpression: 'attribute_not_exists(pk) OR user_id = :user',
    ExpressionAttributeValues: { ':user': userId },
  },
  otherwise: () => new RejectedEvent('email_taken'),
})
