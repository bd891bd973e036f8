import { type Registration, registerMember } from '../community/membership.ts'
import type { Write } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { withMacDigest } from '../events/mac-digest.ts'
import { normalizeEmail } from '../users/identity.ts'
import { claimEmail, putUser, requireUser } from '../users/user.ts'
import { hashPassword } from './password.ts'
import { putSignInRecord } from './sign-in-record.ts'
import { encryptTotpSecret } from './totp.ts'

/** Data of a user's registration by the business server. */
export interface UserRegistration extends Registration {
  /** MD5 of the password, in lower-case hexadecimal digits. */
  loginPassword?: string | undefined
  /** TOTP secret in base32. */
  totpSecret?: string | undefined
}

/**
 * Registers a user, exactly once. Throws RejectedEvent for a user id or email address that is taken and for a
 * user who is their own referrer, and OutOfOrderEvent while the referrer is not registered.
 */
export async function registerUser(user: UserRegistration, record: EventRecord): Promise<Outcome> {
  const [membership, writes, macRecord] = await Promise.all([
    registerMember(user),
    userWrites(user),
    withMacDigest(record),
  ])
  const outcome = await applyOnce(macRecord, (at) => [...writes(at), ...membership.writes(at)])
  await membership.notify(outcome)
  return outcome
}

async function userWrites(user: UserRegistration): Promise<(createdAt: number) => Write[]> {
  const { userId, email, referrerId } = user
  const [loginPassword, totpSecret] = await Promise.all([
    user.loginPassword === undefined ? undefined : hashPassword(user.loginPassword),
    user.totpSecret === undefined ? undefined : encryptTotpSecret(userId, user.totpSecret),
  ])
  return (createdAt) => [
    putUser({ ...user, referrerId, createdAt }),
    putSignInRecord({ ...user, loginPassword, totpSecret, createdAt }),
    claimEmail(normalizeEmail(email), userId),
    ...(referrerId === undefined ? [] : [requireUser(referrerId, 'unknown_referrer')]),
  ]
}
