import { createHash } from 'node:crypto'
import { renameMember } from '../community/join.ts'
import { ConditionFailed, type Write } from '../db/write.ts'
import { countedInstant } from '../events/delivery.ts'
import { applyOnce, type EventRecord, rejectUnlessKnown } from '../events/event-record.ts'
import type { Result } from '../events/outcome.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { withMacDigest } from '../events/mac-digest.ts'
import { retry } from '../retry.ts'
import { changeSignInRecord, endsSessions } from '../sign-in/record.ts'
import { endAllSessions } from '../tokens/access-token.ts'
import { emailKey, fieldsIn, type UserChanges, userFields } from '../users/identity.ts'
import { normalizeEmail } from '../users/normalize-email.ts'
import { readUser, requireUser, type User, userKey } from '../users/user.ts'
import { claimEmail, type SentFields, toStored } from './register.ts'

/** What the business server sends to update a user; omitted fields keep their values. */
export interface UserUpdate {
  updateId: string
  userId: number
  /** Instant of the update, epoch milliseconds. */
  at: number
  fields: SentFields
}

/**
 * Updates a user, exactly once. A field that a later update has set keeps its value. Throws RejectedEvent for
 * an email address of another user, and for an unknown user. Disabling the user, or setting a
 * password or TOTP secret, ends all sessions, login tickets and codes in the same transaction: see
 * endAllSessions.
 */
export async function updateUser(
  { updateId, userId, at, fields }: UserUpdate,
  record: EventRecord,
): Promise<Result> {
  const [macRecord, values] = await Promise.all([withMacDigest(record), toStored(userId, fields)])
  const stamp = updateStamp(countedInstant(at, record.delivery), at, updateId)
  return retry(
    async () => {
      const user = await readUser(userId, { consistent: true })
      if (user === undefined) return rejectUnlessKnown(macRecord, new RejectedEvent('unknown_user'))
      const changes = newerChanges(values, user, stamp)
      const rename = await renameMember(userId, changes)
      const isOvertaken = Object.keys(changes).length === 0
      const told: EventRecord = isOvertaken ? { ...macRecord, effect: 'overtaken' } : macRecord
      const result = await applyOnce(told, [
        changeUser(user, changes, stamp),
        ...changeSignInRecord(userId, changes, Date.now()),
        ...(endsSessions(changes) ? [endAllSessions(userId)] : []),
        ...replaceEmail(user, changes.email),
        ...rename.writes,
      ])
      if (fields.nickname !== undefined || fields.email !== undefined) await rename.notify()
      return result
    },
    (error) => error instanceof ConditionFailed,
  )
}

/**
 * Creates a stamp that orders the updates of one field by time: by the counted instant (see countedInstant),
 * then by `at`, as the sender states it. Updates of the same time are ordered by digests of their ids. Stamps
 * are compared as text, here and in the table.
 */
export const updateStamp = (countedAt: number, at: number, updateId: string): string =>
  [
    String(countedAt).padStart(16, '0'),
    String(at).padStart(16, '0'),
    createHash('sha256').update(updateId).digest('hex').slice(0, 16),
  ].join('#')

/** Selects the fields that no later update has set. Repeated updates are detected by applyOnce, not here. */
function newerChanges(values: UserChanges, user: User, stamp: string): UserChanges {
  const fields = userFields.filter(
    (field) => values[field] !== undefined && (user.stamps[field] ?? '') <= stamp,
  )
  return Object.fromEntries(fields.map((field) => [field, values[field]]))
}

/**
 * The write that changes fields of a user, each with the stamp of this update. Fails if another update has
 * changed one of these fields since `user` was read.
 */
function changeUser(user: User, changes: UserChanges, stamp: string): Write {
  const fields = Object.keys(changes) as (keyof UserChanges)[]
  if (fields.length === 0) return requireUser(user.userId)
  const own = fieldsIn('user', changes)
  const sets = [
    ...own.map(([field]) => `${field} = :${field}`),
    ...fields.map((field) => `stamps.${field} = :stamp`),
  ]
  const unchanged = fields.map((field) =>
    user.stamps[field] === undefined
      ? `attribute_not_exists(stamps.${field})`
      : `stamps.${field} = :${field}_before`,
  )
  const before = fields.flatMap((field) =>
    user.stamps[field] === undefined ? [] : [[`:${field}_before`, user.stamps[field]] as const],
  )
  return {
    Update: {
      Key: userKey(user.userId),
      UpdateExpression: `SET ${sets.join(', ')}`,
      ConditionExpression: ['attribute_exists(pk)', ...unchanged].join(' AND '),
      ExpressionAttributeValues: {
        ...Object.fromEntries([...own.map(([field, value]) => [`:${field}`, value] as const), ...before]),
        ':stamp': stamp,
      },
    },
  }
}

/** The writes that reserve the new email address, and release the old one unless it is the same address. */
function replaceEmail({ userId, email: before }: User, after: string | undefined): Write[] {
  if (after === undefined) return []
  const [oldEmail, newEmail] = [normalizeEmail(before), normalizeEmail(after)]
  const freed = oldEmail === newEmail ? [] : [releaseEmail(oldEmail, userId)]
  return [claimEmail(newEmail, userId), ...freed]
}

/** The write that frees a user's email address. Fails if the address does not belong to this user. */
const releaseEmail = (normalizedEmail: string, userId: number): Write => ({
  Delete: {
    Key: emailKey(normalizedEmail),
    ConditionExpression: 'user_id = :user',
    ExpressionAttributeValues: { ':user': userId },
  },
})
