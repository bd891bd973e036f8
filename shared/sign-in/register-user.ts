import * as v from 'valibot'
import { registerMember } from '../community/membership.ts'
import type { Write } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { Instant, maybe, UserId } from '../fields.ts'
import { EmailAddress, Nickname, normalizeEmail } from '../users/identity.ts'
import { claimEmail, putUser, requireUser } from '../users/user.ts'
import { hashPassword, LoginPassword, withMacDigest } from './password.ts'
import { encryptTotpSecret, TotpSecret } from './totp.ts'

/** `detail` of `user.registered`. */
export const UserRegistered = v.object({
  user_id: UserId,
  email: EmailAddress,
  nickname: Nickname,
  login_password: maybe(LoginPassword),
  totp_secret: maybe(TotpSecret),
  referrer_id: maybe(UserId),
  registered_at: Instant,
})
export type UserRegistered = v.InferOutput<typeof UserRegistered>

/**
 * Registers a user, exactly once. Throws RejectedEvent for an id or address that is taken and for a user who
 * refers themself, and OutOfOrderEvent while the referrer is not registered.
 */
export async function registerUser(detail: UserRegistered, record: EventRecord): Promise<Outcome> {
  const membership = await registerMember({
    userId: detail.user_id,
    nickname: detail.nickname,
    email: detail.email,
    referrerId: detail.referrer_id,
    registeredAt: detail.registered_at,
  })
  const writes = [...(await userWrites(detail)), ...membership.writes]
  const outcome = await applyOnce(await withMacDigest(record), writes)
  await membership.notify()
  return outcome
}

async function userWrites(detail: UserRegistered): Promise<Write[]> {
  const [loginPassword, totpSecret] = await Promise.all([
    detail.login_password === undefined ? undefined : hashPassword(detail.login_password),
    detail.totp_secret === undefined ? undefined : encryptTotpSecret(detail.user_id, detail.totp_secret),
  ])
  const user = {
    userId: detail.user_id,
    email: detail.email,
    nickname: detail.nickname,
    loginPassword,
    totpSecret,
    referrerId: detail.referrer_id,
    registeredAt: detail.registered_at,
  }
  const writes = [putUser(user), claimEmail(normalizeEmail(detail.email), detail.user_id)]
  if (detail.referrer_id === undefined) return writes
  return [...writes, requireUser(detail.referrer_id, 'unknown_referrer')]
}
