import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { ConditionFailed, putNew, type Write, writeItem } from '../db/write.ts'
import { Failure, OptimisticLockError } from '../errors.ts'
import { OutOfOrderEvent, RejectedEvent } from '../events/rejected-event.ts'

const users = itemType({
  pk: 'USER#{userId}',
  sk: 'USER',
  holds: 'a user: name, address, password hash, TOTP secret, and what each update set last',
  found: 'by user',
})

/** Key of the item of a user. */
export const userKey = (userId: number): Key => users.key({ userId })

const emails = itemType({
  pk: 'EMAIL#{normalizedEmail}',
  sk: 'EMAIL',
  holds: 'the user that an email address is reserved for',
  found: 'by normalized address',
})

/** Key of the item that reserves a normalized email address for one user. */
export const emailKey = (normalizedEmail: string): Key => emails.key({ normalizedEmail })

const EmailItem = v.object({ user_id: Integer })

/** Reads which user an email address is reserved for from the item of emailKey; undefined without an item. */
export const emailOwner = (item: Item | undefined): number | undefined =>
  item === undefined ? undefined : v.parse(EmailItem, item).user_id

/** Fields that a `user.updated` may change, each independently of the others. */
export const updatableFields = [
  'nickname',
  'email',
  'login_password',
  'totp_secret',
  'passkey',
  'disabled',
] as const

/** Schema of a stored user. */
const UserItem = v.object({
  user_id: Integer,
  /** Email address as its owner writes it. */
  email: v.string(),
  nickname: v.string(),
  /** Password hash as PHC string; undefined for users who cannot sign in by password. */
  login_password: v.optional(v.string()),
  /** Ciphertext of the TOTP secret; undefined where no authenticator is enrolled. */
  totp_secret: v.optional(v.instance(Uint8Array)),
  /** Time step of the last accepted TOTP (RFC 6238 §5.2). */
  last_totp_step: v.optional(Integer),
  passkey: v.boolean(),
  disabled: v.boolean(),
  /** Stamp of the update that disabled the user, until all their tokens have been revoked. */
  revocation_due: v.optional(v.string()),
  referrer_id: v.optional(Integer),
  /** Instant of registration, epoch milliseconds. */
  registered_at: Integer,
  /** For each field the stamp of the update that last set it; a later update has a greater stamp as text. */
  stamps: v.object(v.entriesFromList(updatableFields, v.optional(v.string()))),
  /** When each mail slot was last used, epoch milliseconds; slots used over an hour ago are free. */
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

/** Reads a user by id; undefined if there is none. Eventually consistent unless `consistent` is set. */
export async function readUser(
  userId: number,
  { consistent = false }: { consistent?: boolean } = {},
): Promise<User | undefined> {
  const item = await readItem(userKey(userId), { consistent })
  return item === undefined ? undefined : v.parse(User, item)
}

/** Data of a new user; secrets are already hashed or encrypted. */
export interface NewUser {
  userId: number
  email: string
  nickname: string
  loginPassword: string | undefined
  totpSecret: Uint8Array | undefined
  referrerId: number | undefined
  registeredAt: number
}

/** The write that adds a user. Fails with `user_exists` when the id is registered. */
export const putUser = (user: NewUser): Write => ({
  ...putNew({
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
  }),
  otherwise: () => new RejectedEvent('user_exists'),
})

/** New values of a user's fields; secrets are already hashed or encrypted. */
export interface UserChanges {
  nickname?: string | undefined
  email?: string | undefined
  login_password?: string | undefined
  totp_secret?: Uint8Array | undefined
  passkey?: boolean | undefined
  disabled?: boolean | undefined
}

/**
 * The write that changes fields of a user and stamps each of them. Its condition fails when one of these
 * fields has changed since `user` was read. Without changes it only checks that the user exists.
 */
export function changeUser(user: User, changes: UserChanges, stamp: string): Write {
  const fields = updatableFields.filter((field) => changes[field] !== undefined)
  if (fields.length === 0) return requireUser(user.userId)
  const sets = fields.flatMap((field) => [`${field} = :${field}`, `stamps.${field} = :stamp`])
  if (changes.disabled === true) sets.push('revocation_due = :stamp')
  // A new TOTP secret has other codes, so the time steps that were used up with the old one are valid again.
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

/** Clears the mark that a user's tokens are to be revoked, unless the user was disabled again since. */
export const clearRevocationDue = (userId: number, due: string): Promise<void> =>
  updateIf(userId, 'REMOVE revocation_due', 'revocation_due = :due', { ':due': due })

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

/**
 * The write that completes a sign-in. It requires that the user is not disabled (otherwise
 * `bad_login_ticket`) and, for a TOTP, uses its time step up so that no code is accepted twice (otherwise
 * `bad_verification_code`; RFC 6238 §5.2).
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

/** Replaces a password hash by one with newer parameters, unless the password has since changed. */
export const replacePasswordHash = (userId: number, known: string, replacement: string): Promise<void> =>
  updateIf(userId, 'SET login_password = :replacement', 'login_password = :known', {
    ':replacement': replacement,
    ':known': known,
  })

/** Error: another sign-in took the mail slot first. `mails` has all slots as they are stored now. */
export class MailSlotTaken extends OptimisticLockError {
  override readonly name = 'MailSlotTaken'
  readonly mails: User['mails']

  constructor(mails: User['mails']) {
    super('the mail slot was taken')
    this.mails = mails
  }
}

/** Marks a mail slot as used at `now`. Throws MailSlotTaken if it was last used after `freeBefore`. */
export async function takeMailSlot(
  userId: number,
  slot: string,
  { now, freeBefore }: { now: number; freeBefore: number },
): Promise<void> {
  await writeItem({
    Update: {
      Key: userKey(userId),
      UpdateExpression: 'SET mails.#slot = :now',
      ConditionExpression:
        'attribute_exists(pk) AND (attribute_not_exists(mails.#slot) OR mails.#slot <= :freeBefore)',
      ExpressionAttributeNames: { '#slot': slot },
      ExpressionAttributeValues: { ':now': now, ':freeBefore': freeBefore },
    },
    otherwise: (stored) => new MailSlotTaken(v.parse(User, stored).mails),
  })
}

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

/** Performs an update of a user's item if its condition holds, and does nothing otherwise. */
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
