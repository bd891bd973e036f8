import * as v from 'valibot'
import { renameMember } from '../community/membership.ts'
import { ConditionFailed, type Write } from '../db/write.ts'
import {
  changeUser,
  claimEmail,
  readUser,
  releaseEmail,
  updatableFields,
  type User,
  type UserChanges,
} from '../users/user.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { BusinessKey, Instant, maybe, UserId } from '../events/fields.ts'
import { OutOfOrderEvent } from '../events/rejected-event.ts'
import { withMacDigest } from './conceal-digest.ts'
import { EmailAddress, normalizeEmail, Nickname } from '../users/identity.ts'
import { hashPassword } from './hash-password.ts'
import { LoginPassword } from './login-password.ts'
import { revokeDisabledUserTokens } from './end-disabled-sessions.ts'
import { encryptTotpSecret, TotpSecret } from './totp-secret.ts'
import { updateStamp } from './update-stamp.ts'

/** `detail` of `user.updated`: fields that are left out stay as they are. */
export const UserUpdated = v.object({
  update_id: BusinessKey,
  user_id: UserId,
  at: Instant,
  nickname: maybe(Nickname),
  email: maybe(EmailAddress),
  login_password: maybe(LoginPassword),
  totp_secret: maybe(TotpSecret),
  passkey: maybe(v.boolean()),
  disabled: maybe(v.boolean()),
})
export type UserUpdated = v.InferOutput<typeof UserUpdated>

/** Updates of one user at the same time that one of them gives way to, before it is left to the queue. */
const attempts = 10

/**
 * Changes a user, exactly once and field by field: a field that a later update has set already stays. An address of
 * somebody else is Refused with the whole update; an unknown user makes it TooEarly. Where it disables the user, it
 * counts as done only when all their tokens have been revoked, also when it comes again after a crash in between.
 */
export async function updateUser(detail: UserUpdated, record: EventRecord): Promise<Outcome> {
  const [concealed, values] = await Promise.all([withMacDigest(record), storedValues(detail)])
  const outcome = await applyChanges(detail, values, concealed)
  if (detail.disabled === true) await revokeDisabledUserTokens(detail.user_id)
  return outcome
}

async function applyChanges(detail: UserUpdated, values: UserChanges, record: EventRecord): Promise<Outcome> {
  const stamp = updateStamp(detail.at, detail.update_id)
  for (let attempt = 1; ; attempt += 1) {
    const user = await readUser(detail.user_id, { consistent: true })
    if (user === undefined) throw new OutOfOrderEvent('unknown_user')
    const changes = newerChanges(values, user, stamp)
    const email = replaceEmail(user, changes.email)
    const rename = await renameMember(detail.user_id, changes)
    try {
      return await applyOnce(record, [changeUser(user, changes, stamp), ...email, ...rename])
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      if (attempt === attempts) throw error
    }
  }
}

/** The changes of this update that no later one has overtaken. */
function newerChanges(values: UserChanges, user: User, stamp: string): UserChanges {
  const fields = updatableFields.filter(
    (field) => values[field] !== undefined && (user.stamps[field] ?? '') < stamp,
  )
  return Object.fromEntries(fields.map((field) => [field, values[field]]))
}

/** Gives a user's address back and takes the new one, where they are not two spellings of the same. */
function replaceEmail({ userId, email: before }: User, after: string | undefined): Write[] {
  if (after === undefined) return []
  const [old, wanted] = [normalizeEmail(before), normalizeEmail(after)]
  return old === wanted ? [] : [claimEmail(wanted, userId), releaseEmail(old, userId)]
}

/** The new values in the form in which they are kept. */
async function storedValues(detail: UserUpdated): Promise<UserChanges> {
  const { nickname, email, login_password, totp_secret, passkey, disabled } = detail
  return {
    nickname,
    email,
    login_password: login_password === undefined ? undefined : await hashPassword(login_password),
    totp_secret: totp_secret === undefined ? undefined : await encryptTotpSecret(detail.user_id, totp_secret),
    passkey,
    disabled,
  }
}
