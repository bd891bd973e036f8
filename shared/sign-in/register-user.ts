import * as v from 'valibot'
import { claimEmail, putUser, userMustExist } from '../db/user.ts'
import { registerMember } from '../community/register-member.ts'
import { ConditionFailed, type Write } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { Instant, maybe, UserId } from '../events/fields.ts'
import { RejectedEvent, OutOfOrderEvent } from '../events/rejected-event.ts'
import { concealDigest } from './conceal-digest.ts'
import { EmailAddress, normalizeEmail } from './email-address.ts'
import { hashPassword } from './hash-password.ts'
import { LoginPassword } from './login-password.ts'
import { Nickname } from './nickname.ts'
import { encryptTotpSecret, TotpSecret } from './totp-secret.ts'

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
 * Adds a user, exactly once. An address of somebody else and a user who refers themself are Refused; a referrer who is
 * not registered yet makes it TooEarly.
 */
export async function registerUser(detail: UserRegistered, record: EventRecord): Promise<Outcome> {
  if (detail.referrer_id === detail.user_id)
    throw new RejectedEvent('own_referrer: a user cannot refer themself')
  const membership = await registerMember({
    userId: detail.user_id,
    nickname: detail.nickname,
    email: detail.email,
    referrerId: detail.referrer_id,
    registeredAt: detail.registered_at,
  })
  const members = await membersOf(detail)
  try {
    const writes = [...members.map(({ item }) => item), ...membership.writes]
    const outcome = await applyOnce(await concealDigest(record), writes)
    await membership.announce()
    return outcome
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    // The first member is the event's own key.
    throw members.find((_, i) => error.failed[i + 1])?.otherwise() ?? error
  }
}

/** A part of the transaction, and what it means when its condition does not hold. */
interface Member {
  item: Write
  otherwise: () => Error
}

async function membersOf(detail: UserRegistered): Promise<Member[]> {
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
  const members: Member[] = [
    { item: putUser(user), otherwise: () => new RejectedEvent('user_exists: this user_id is registered') },
    {
      item: claimEmail(normalizeEmail(detail.email), detail.user_id),
      otherwise: () => new RejectedEvent("email_taken: the address is somebody else's"),
    },
  ]
  if (detail.referrer_id !== undefined) {
    members.push({
      item: userMustExist(detail.referrer_id),
      otherwise: () => new OutOfOrderEvent('unknown_referrer'),
    })
  }
  return members
}
