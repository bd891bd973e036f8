import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { putNew, type Write } from '../db/write.ts'
import { Failure } from '../errors.ts'
import { fieldsIn, itemFields, type UserChanges, type UserFields } from '../users/identity.ts'
import { addNetwork, splitNetworks } from './limits/source.ts'
import { attributesOf, expiredAttributes, removal, windowAttributes } from './limits/tries.ts'

/** Name of the counter that counts wrong second factors across all login tickets. */
export const codeCounter = 'code'

const records = itemType({
  pk: 'SIGNIN#{userId}',
  sk: 'SIGNIN',
  holds:
    'all that a sign-in needs of a user: password hash, TOTP secret, login tickets, counts of wrong tries',
  found: 'by user',
})

/** Key of the sign-in record of a user. */
export const signInKey = (userId: number): Key => records.key({ userId })

/** A login ticket as stored, under its hash. */
const Ticket = v.object({
  /** When the ticket expires, epoch milliseconds. */
  expires_at: Integer,
  /** Tries of a second factor with this ticket, keyed by id. A try is added before its code is compared. */
  tried: v.optional(v.record(v.string(), v.boolean()), {}),
  /** Digest of the code that was mailed for this login ticket; undefined when none was mailed. */
  code: v.optional(v.instance(Uint8Array)),
  /** Digest of the source network that the password came from. */
  network: v.string(),
})

/** A user's sign-in record. Other attributes, which are not listed here, count tries (limits/tries.ts). */
export const SignInRecord = v.looseObject({
  ...itemFields['sign-in'],
  user_id: Integer,
  /** Number of times that all sessions of the user were ended. A new session stores it. */
  generation: Integer,
  /** Time step of the last accepted TOTP (RFC 6238 §5.2). */
  last_totp_step: v.optional(Integer),
  /** When the latest codes were mailed, epoch milliseconds. */
  mails: v.array(Integer),
  /** The login tickets that were not used, keyed by hash. */
  tickets: v.record(v.string(), Ticket),
  /** Digests of the networks that the user has signed in from, in one byte string, the latest first. */
  networks: v.pipe(
    v.instance(Uint8Array),
    v.transform((joined) => splitNetworks(joined)),
  ),
  /** Wrong second factors in a row. A try counts as wrong until it has been found right. */
  wrong_codes: v.optional(Integer, { value: '0' }),
  /** When the user was last warned, epoch milliseconds, keyed by kind of warning: see warn-owner.ts. */
  told: v.record(v.string(), Integer),
})
export type SignInRecord = v.InferOutput<typeof SignInRecord>

/** Parses a user's sign-in record; undefined for an item that counts tries for an unknown address. */
export const toSignInRecord = (item: Item): SignInRecord | undefined =>
  item['user_id'] === undefined ? undefined : v.parse(SignInRecord, item)

/** Reads the sign-in record of a user, strongly consistent; undefined if there is none. */
export async function readSignInRecord(userId: number): Promise<SignInRecord | undefined> {
  const item = await readItem(signInKey(userId), { consistent: true })
  return item && toSignInRecord(item)
}

/** The write that adds the sign-in record of a new user; it fails if the user has one. */
export const putSignInRecord = (
  userId: number,
  registered: Pick<UserFields, 'email' | 'nickname'> & UserChanges,
): Write =>
  putNew({
    ...signInKey(userId),
    ...Object.fromEntries(fieldsIn('sign-in', { passkey: false, disabled: false, ...registered })),
    user_id: userId,
    generation: 0,
    mails: [],
    told: {},
    tickets: {},
    networks: new Uint8Array(),
  })

/**
 * Whether an update ends all sessions. It does if it sets a password or a TOTP secret, or if it disables the
 * user.
 */
export const endsSessions = ({ login_password, totp_secret, disabled }: UserChanges): boolean =>
  login_password !== undefined || totp_secret !== undefined || disabled === true

/**
 * The write that changes fields of a sign-in record, for the transaction that changes the user. Ends every
 * login ticket if the user gets a new password or TOTP secret, or is disabled or enabled. So no earlier
 * sign-in can complete. Adds one to `generation` if the changes end all sessions. A new password or TOTP
 * secret clears the count of wrong codes, so that the user is not locked out.
 */
export function changeSignInRecord(userId: number, changes: UserChanges, now: number): Write[] {
  const changed = fieldsIn('sign-in', changes)
  if (changed.length === 0) return []
  const { login_password, totp_secret, disabled } = changes
  const isNewSecret = login_password !== undefined || totp_secret !== undefined
  const endsTickets = isNewSecret || disabled !== undefined
  const sets = [
    ...changed.map(([field]) => `${field} = :${field}`),
    ...(endsTickets ? ['tickets = :none'] : []),
    ...(isNewSecret ? ['told = :none'] : []),
  ]
  const removed = removal([
    ...(isNewSecret ? [...windowAttributes(codeCounter, now), 'wrong_codes'] : []),
    // The last used time step belongs to the old TOTP secret.
    ...(totp_secret === undefined ? [] : ['last_totp_step']),
  ])
  const write = {
    Update: {
      Key: signInKey(userId),
      UpdateExpression: [
        `SET ${sets.join(', ')}`,
        removed.clause,
        ...(endsSessions(changes) ? ['ADD generation :one'] : []),
      ].join(' '),
      ConditionExpression: 'attribute_exists(pk)',
      ...(removed.clause !== '' && { ExpressionAttributeNames: removed.names }),
      ExpressionAttributeValues: {
        ...Object.fromEntries(changed.map(([field, value]) => [`:${field}`, value])),
        ...(endsTickets && { ':none': {} }),
        ...(endsSessions(changes) && { ':one': 1 }),
      },
    },
  }
  return [write]
}

/** The changes to a sign-in record after a right second factor. */
export interface CodeStep {
  ticketHash: string
  /** Time step of the TOTP that completes the sign-in; undefined if the code is no TOTP. */
  totpStep: number | undefined
  /** Digest of the source network, to be added to the user's known networks. */
  network: string
}

/**
 * The write that completes a sign-in, for the transaction that adds the token. Uses up the ticket and a
 * TOTP's time step, clears the count of wrong codes, and remembers the source network. Fails with
 * `bad_login_ticket` if the ticket is gone or the user is disabled, and with `bad_verification_code` if the
 * time step was used before (RFC 6238 §5.2).
 */
export function acceptSecondFactor(record: SignInRecord, step: CodeStep, now: number): Write {
  const { ticketHash: hash, totpStep, network } = step
  const removed = removeFromRecord(record, now, {
    tickets: [hash],
    attributes: ['wrong_codes', ...attributesOf(record, codeCounter)],
  })
  return {
    Update: {
      Key: signInKey(record.user_id),
      UpdateExpression: [
        'SET networks = :networks, told = :none',
        ...(totpStep === undefined ? [] : [', last_totp_step = :step']),
        ` ${removed.clause}`,
      ].join(''),
      ConditionExpression: [
        'attribute_exists(tickets.#ticket) AND disabled = :false',
        ...(totpStep === undefined
          ? []
          : ['(attribute_not_exists(last_totp_step) OR last_totp_step < :step)']),
      ].join(' AND '),
      ExpressionAttributeNames: { ...removed.names, '#ticket': hash },
      ExpressionAttributeValues: {
        ':false': false,
        ':none': {},
        ':networks': addNetwork(record.networks, network),
        ...(totpStep !== undefined && { ':step': totpStep }),
      },
    },
    otherwise(stored) {
      const { tickets, disabled } = v.parse(SignInRecord, stored)
      return new Failure(!disabled && hash in tickets ? 'bad_verification_code' : 'bad_login_ticket')
    },
  }
}

/**
 * Builds the REMOVE clause of an update of a sign-in record. It removes the given login tickets and
 * attributes, all expired tickets, and all expired counts of tries.
 */
export function removeFromRecord(
  record: SignInRecord,
  now: number,
  { tickets = [], attributes = [] }: { tickets?: string[]; attributes?: string[] },
): ReturnType<typeof removal> {
  const expired = Object.entries(record.tickets).filter(([, { expires_at }]) => expires_at <= now)
  return removal(
    [...expiredAttributes(record, now), ...attributes],
    [...expired.map(([hash]) => hash), ...tickets],
  )
}
