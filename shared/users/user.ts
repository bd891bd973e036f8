import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { findItem } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { putNew, type Write, writeIf } from '../db/write.ts'
import { OutOfOrderEvent, RejectedEvent } from '../events/rejected-event.ts'
import { emailKey } from './email-owner.ts'
import { type FieldIn, fieldsIn, type UserChanges, type UserFields, userFields } from './identity.ts'

const users = itemType({
  pk: 'USER#{userId}',
  sk: 'USER',
  holds: 'a user: name, address, referrer, and what each update set last',
  found: 'by user',
})

/** Key of the item of a user. */
export const userKey = (userId: number): Key => users.key({ userId })

/** Schema of a stored user. */
const UserItem = v.object({
  ...({ nickname: v.string(), email: v.string() } satisfies Record<FieldIn<'user'>, v.GenericSchema>),
  user_id: Integer,
  /** Stamp of the update that ended all sessions of the user, until all their tokens have been revoked. */
  revocation_due: v.optional(v.string()),
  referrer_id: v.optional(Integer),
  /** Instant of registration, epoch milliseconds. */
  registered_at: Integer,
  /** For each field the stamp of the update that last set it; a later update has a greater stamp as text. */
  stamps: v.object(v.entriesFromList(userFields, v.optional(v.string()))),
})

const User = v.pipe(
  UserItem,
  v.transform((item) => ({
    userId: item.user_id,
    email: item.email,
    nickname: item.nickname,
    revocationDue: item.revocation_due,
    referrerId: item.referrer_id,
    registeredAt: item.registered_at,
    stamps: item.stamps,
  })),
)
export type User = v.InferOutput<typeof User>

/** Parses a user from the user's item. */
export const toUser = (item: Item): User => v.parse(User, item)

/**
 * Reads a user by id; undefined if there is none. Without `consistent` what was changed a moment ago may be
 * missing.
 */
export async function readUser(
  userId: number,
  options: { consistent?: boolean } = {},
): Promise<User | undefined> {
  const item = await findItem(userKey(userId), options)
  return item && toUser(item)
}

/** Data of a new user. */
export interface NewUser extends Pick<UserFields, FieldIn<'user'>> {
  userId: number
  referrerId: number | undefined
  registeredAt: number
}

/** The write that adds a user. Fails with `user_exists` when the id is registered. */
export const putUser = (user: NewUser): Write => ({
  ...putNew({
    ...userKey(user.userId),
    ...Object.fromEntries(fieldsIn('user', user)),
    user_id: user.userId,
    referrer_id: user.referrerId,
    registered_at: user.registeredAt,
    stamps: {},
  }),
  otherwise: () => new RejectedEvent('user_exists'),
})

/**
 * The write that changes fields of a user and stamps each of them, also those of the sign-in record. Its
 * condition fails when one of these fields has changed since `user` was read. `endsSessions` marks that all
 * tokens of the user are to be revoked.
 */
export function changeUser(
  user: User,
  changes: UserChanges,
  stamp: string,
  { endsSessions }: { endsSessions: boolean },
): Write {
  const fields = userFields.filter((field) => changes[field] !== undefined)
  if (fields.length === 0) return requireUser(user.userId)
  const own = fieldsIn('user', changes)
  const sets = [
    ...own.map(([field]) => `${field} = :${field}`),
    ...fields.map((field) => `stamps.${field} = :stamp`),
    ...(endsSessions ? ['revocation_due = :stamp'] : []),
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

/** Clears the mark that a user's tokens are to be revoked, unless a later update has set it again. */
export const clearRevocationDue = (userId: number, due: string): Promise<boolean> =>
  writeIf({
    Update: {
      Key: userKey(userId),
      UpdateExpression: 'REMOVE revocation_due',
      ConditionExpression: 'revocation_due = :due',
      ExpressionAttributeValues: { ':due': due },
    },
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

/** The write that frees a user's email address. Its condition fails when another user has it. */
export const releaseEmail = (normalizedEmail: string, userId: number): Write => ({
  Delete: {
    Key: emailKey(normalizedEmail),
    ConditionExpression: 'user_id = :user',
    ExpressionAttributeValues: { ':user': userId },
  },
})

/** The condition that a user is registered. Otherwise the event is out of order, with the given reason. */
export const requireUser = (
  userId: number,
  reason: 'unknown_user' | 'unknown_referrer' = 'unknown_user',
): Write => ({
  ConditionCheck: {
    Key: userKey(userId),
    ConditionExpression: 'attribute_exists(pk)',
  },
  otherwise: () => new OutOfOrderEvent(reason),
})
