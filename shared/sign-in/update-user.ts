import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { renameMember } from '../community/membership.ts'
import { ConditionFailed, type Write } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { BusinessKey, Instant, maybe, UserId } from '../fields.ts'
import { OutOfOrderEvent } from '../events/rejected-event.ts'
import { retry } from '../retry.ts'
import { endAllSessions } from '../tokens/access-token.ts'
import { EmailAddress, Nickname, normalizeEmail } from '../users/identity.ts'
import {
  changeUser,
  claimEmail,
  clearRevocationDue,
  readUser,
  releaseEmail,
  updatableFields,
  type User,
  type UserChanges,
} from '../users/user.ts'
import { hashPassword, LoginPassword, withMacDigest } from './password.ts'
import { encryptTotpSecret, TotpSecret } from './totp.ts'

/** `detail` of `user.updated`: omitted fields keep their values. */
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

/**
 * Updates a user, exactly once and field by field: a field that a later update has set keeps its value.
 * Throws RejectedEvent for an address that another user has, and OutOfOrderEvent for an unknown user. An
 * update that disables the user is done only when all their tokens are revoked, also when it is delivered
 * again after a crash in between.
 */
export async function updateUser(detail: UserUpdated, record: EventRecord): Promise<Outcome> {
  const [macRecord, values] = await Promise.all([withMacDigest(record), storedValues(detail)])
  const outcome = await applyChanges(detail, values, macRecord)
  if (detail.disabled === true) await revokeDisabledUserTokens(detail.user_id)
  return outcome
}

/** Applies the changes to the user as just read, and again when another update was faster. */
function applyChanges(detail: UserUpdated, values: UserChanges, record: EventRecord): Promise<Outcome> {
  const stamp = updateStamp(detail.at, detail.update_id)
  return retry(
    async () => {
      const user = await readUser(detail.user_id, { consistent: true })
      if (user === undefined) throw new OutOfOrderEvent('unknown_user')
      const changes = newerChanges(values, user, stamp)
      const email = replaceEmail(user, changes.email)
      const rename = await renameMember(detail.user_id, changes)
      return applyOnce(record, [changeUser(user, changes, stamp), ...email, ...rename])
    },
    (error) => error instanceof ConditionFailed,
  )
}

/**
 * Orders two updates of one field: the later instant wins, and for the same instant always the same one, in
 * any order of arrival. Stamps are compared as text, here and in the table.
 */
export const updateStamp = (at: number, updateId: string): string =>
  `${String(at).padStart(16, '0')}#${createHash('sha256').update(updateId).digest('hex').slice(0, 16)}`

/** The changes to fields that no later update has set. */
function newerChanges(values: UserChanges, user: User, stamp: string): UserChanges {
  const fields = updatableFields.filter(
    (field) => values[field] !== undefined && (user.stamps[field] ?? '') < stamp,
  )
  return Object.fromEntries(fields.map((field) => [field, values[field]]))
}

/**
 * The writes that reserve the new address and free the old one; none when both are spellings of the same
 * address.
 */
function replaceEmail({ userId, email: before }: User, after: string | undefined): Write[] {
  if (after === undefined) return []
  const [oldEmail, newEmail] = [normalizeEmail(before), normalizeEmail(after)]
  return oldEmail === newEmail ? [] : [claimEmail(newEmail, userId), releaseEmail(oldEmail, userId)]
}

/** The new values as stored, with secrets hashed or encrypted. */
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

/**
 * Revokes all tokens of a user if that is due since they were disabled. The write that disables sets the
 * mark, which is cleared only after the tokens are revoked. After a crash in between it stays due, even if
 * the user has been enabled again.
 */
async function revokeDisabledUserTokens(userId: number): Promise<void> {
  const due = (await readUser(userId, { consistent: true }))?.revocationDue
  if (due === undefined) return
  await endAllSessions(userId)
  await clearRevocationDue(userId, due)
}
