import * as v from 'valibot'
import { Integer, type Item, type Key } from './table.ts'
import { ConditionFailed, type Write, writeItem } from './write.ts'
import { readItem } from './read.ts'
import { OutOfOrderEvent, RejectedEvent } from '../events/rejected-event.ts'
import { Failure } from '../errors.ts'

/** Key of a user: who they are and how they sign in. */
export const userKey = (userId: number): Key => ({ pk: `USER#${userId}`, sk: 'USER' })

/** Key of the item that makes an address, normalized, one user's alone. */
export const emailKey = (normalizedEmail: string): Key => ({ pk: `EMAIL#${normalizedEmail}`, sk: 'EMAIL' })

/** Fields that a `user.updated` may change, each on its own. */
export const updatableFields = [
  'nickname',
  'email',
  'login_password',
  'totp_secret',
  'passkey',
  'disabled',
] as const
export type UpdatableField = (typeof updatableFields)[number]

/** A user as the table holds them. */
export const UserItem = v.object({
  user_id: Integer,
  /** As its owner writes it. */
  email: v.string(),
  nickname: v.string(),
  /** PHC string; absent for users who cannot sign in by password. */
  login_password: v.optional(v.string()),
  /** Ciphertext of the base32 secret; absent where no authenticator is enrolled. */
  totp_secret: v.optional(v.instance(Uint8Array)),
  /** Last time step whose TOTP was accepted. */
  last_totp_step: v.optional(Integer),
  passkey: v.boolean(),
  disabled: v.boolean(),
  /** Stamp of the update that disabled the user, until all their tokens have been revoked. */
  revocation_due: v.optional(v.string()),
  referrer_id: v.optional(Integer),
  /** Epoch milliseconds. */
  registered_at: Integer,
  /** Which update each field was last set by; the later of two is greater as text. */
  stamps: v.object(v.entriesFromList(updatableFields, v.optional(v.string()))),
  /** Instants of the mails of the last hour, by slot; older ones are stale. */
  mails: v.record(v.string(), Integer),
})

const User = v.pipe(
  UserItem,
  v.transform((item) => ({
    userId: item.user_id,
    email: item.email,
    nickname: item.nickname,
    loginPassword: item.login_password,
    totpSecret: item.totp_secret,
    lastTotpStep: item.last_totp_step,
    passkey: item.passkey,
    disabled: item.disabled,
    revocationDue: item.revocation_due,
    referrerId: item.referrer_id,
    registeredAt: item.registered_at,
    stamps: item.stamps,
    mails: item.mails,
  })),
)
export type User = v.InferOutput<typeof User>

/** A user by their id, or undefined; eventually consistent unless said otherwise. */
export async function readUser(
  userId: number,
  { consistent = false }: { consistent?: boolean } = {},
): Promise<User | undefined> {
  const item = await readItem(userKey(userId), { consistent })
  return item === undefined ? undefined : parseUser(item)
}

/** A user out of an item that was read elsewhere. */
export const parseUser = (item: Record<string, unknown>): User => v.parse(User, item)

/** What a registration says of a user, secrets already in the form in which they are kept. */
export interface NewUser {
  userId: number
  email: string
  nickname: string
  loginPassword: string | undefined
  totpSecret: Uint8Array | undefined
  referrerId: number | undefined
  registeredAt: number
}

/** The member of a transaction that adds a user; its condition fails where there is one of that id. */
export const putUser = (user: NewUser): Write => ({
  Put: {
    Item: {
      ...userKey(user.userId),
      user_id: user.userId,
      email: user.email,
      nickname: user.nickname,
      login_password: user.loginPassword,
      totp_secret: user.totpSecret,
      passkey: false,
      disabled: false,
      referrer_id: user.referrerId,
      registered_at: user.registeredAt,
      stamps: {},
      mails: {},
    },
    ConditionExpression: 'attribute_not_exists(pk)',
  },
  otherwise: () => new RejectedEvent('user_exists'),
})

/** New values of some fields, in the form in which they are kept. */
export interface UserChanges {
  nickname?: string | undefined
  email?: string | undefined
  login_password?: string | undefined
  totp_secret?: Uint8Array | undefined
  passkey?: boolean | undefined
  disabled?: boolean | undefined
}

/**
 * The member of a transaction that changes fields of a user and stamps each of them. Its condition fails where one of
 * them has been changed since the user was read. With no changes it only makes sure that there is the user.
 */
export function changeUser(user: User, changes: UserChanges, stamp: string): Write {
  const fields = updatableFields.filter((field) => changes[field] !== undefined)
  if (fields.length === 0) return userMustExist(user.userId)
  const sets = fields.flatMap((field) => [`${field} = :${field}`, `stamps.${field} = :stamp`])
  if (changes.disabled === true) sets.push('revocation_due = :stamp')
  // A new secret has its own codes for the steps that the old one used up.
  const removes = changes.totp_secret === undefined ? '' : ' REMOVE last_totp_step'
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
      UpdateExpression: `SET ${sets.join(', ')}${removes}`,
      ConditionExpression: ['attribute_exists(pk)', ...unchanged].join(' AND '),
      ExpressionAttributeValues: {
        ...Object.fromEntries([...fields.map((field) => [`:${field}`, changes[field]] as const), ...before]),
        ':stamp': stamp,
      },
    },
  }
}

/** Strikes out a revocation that has been carried out, unless the user has been disabled once more since. */
export const settleRevocation = (userId: number, due: string): Promise<void> =>
  updateIf(userId, 'REMOVE revocation_due', 'revocation_due = :due', { ':due': due })

/** The member of a transaction that takes an address for a user; its condition fails where it is somebody else's. */
export const claimEmail = (normalizedEmail: string, userId: number): Write => ({
  Put: {
    Item: { ...emailKey(normalizedEmail), user_id: userId },
    ConditionExpression: 'attribute_not_exists(pk) OR user_id = :user',
    ExpressionAttributeValues: { ':user': userId },
  },
  otherwise: () => new RejectedEvent('email_taken'),
})

/** The member of a transaction that gives up an address which is this user's. */
export const releaseEmail = (normalizedEmail: string, userId: number): Write => ({
  Delete: {
    Key: emailKey(normalizedEmail),
    ConditionExpression: 'user_id = :user',
    ExpressionAttributeValues: { ':user': userId },
  },
})

/**
 * The member of a transaction that lets a sign-in through only while the user is not disabled (else `bad_login_ticket`),
 * and that uses up the time step of a TOTP, once (else `bad_verification_code`).
 */
export function acceptSecondFactor(userId: number, totpStep: number | undefined): Write {
  const enabled = 'disabled = :false'
  const otherwise = (user: Item | undefined) =>
    new Failure(user?.['disabled'] === false ? 'bad_verification_code' : 'bad_login_ticket')
  if (totpStep === undefined) {
    return {
      ConditionCheck: {
        Key: userKey(userId),
        ConditionExpression: enabled,
        ExpressionAttributeValues: { ':false': false },
      },
      otherwise,
    }
  }
  return {
    Update: {
      Key: userKey(userId),
      UpdateExpression: 'SET last_totp_step = :step',
      ConditionExpression: `${enabled} AND (attribute_not_exists(last_totp_step) OR last_totp_step < :step)`,
      ExpressionAttributeValues: { ':false': false, ':step': totpStep },
    },
    otherwise,
  }
}

/** Keeps a password under better parameters, unless the password has been changed meanwhile. */
export const replacePassword = (userId: number, known: string, better: string): Promise<void> =>
  updateIf(userId, 'SET login_password = :better', 'login_password = :known', {
    ':better': better,
    ':known': known,
  })

/** A check that the user is registered; without one, the event is out of order for the given reason. */
export const userMustExist = (
  userId: number,
  reason: 'unknown_user' | 'unknown_referrer' = 'unknown_user',
): Write => ({
  ConditionCheck: {
    Key: userKey(userId),
    ConditionExpression: 'attribute_exists(pk)',
  },
  otherwise: () => new OutOfOrderEvent(reason),
})

/** Updates a user, or, where the condition does not hold any more, leaves them as they are. */
async function updateIf(
  userId: number,
  update: string,
  condition: string,
  values: Record<string, unknown>,
): Promise<void> {
  try {
    await writeItem({
      Update: {
        Key: userKey(userId),
        UpdateExpression: update,
        ConditionExpression: condition,
        ExpressionAttributeValues: values,
      },
    })
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
  }
}
