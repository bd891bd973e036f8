import * as v from 'valibot'
import { writeItem } from '../../db/write.ts'
import { Failure, OptimisticLockError } from '../../errors.ts'
import { log } from '../../log.ts'
import { backOff, maxAttempts } from '../../retry.ts'
import { tryAttribute } from '../limits/tries.ts'
import { removeFromRecord, signInKey, SignInRecord } from '../record.ts'
import { digestMailedCode, newLoginTicket, newMailedCode, ticketExpiry, ticketHash } from '../ticket.ts'
import { warnOwner } from '../warn-owner.ts'
import { giveBackPasswordTry, passwordCounter, type PasswordAttempt } from './attempt.ts'
import { dummyHash, hashPassword, verifyPassword } from './digest.ts'

/** Methods of the second factor, in the order in which they are offered. */
export const twoFactorMethods = ['EMAIL', 'AUTHENTICATOR', 'PASSKEY'] as const
export type TwoFactorMethod = (typeof twoFactorMethods)[number]

/**
 * Checks a password. Resolves with the user, and with a new hash if the stored one has outdated parameters.
 * Resolves with undefined for an unknown user, a wrong password, a user without a password and a disabled
 * user. These four cases make the same calls and do the same work.
 */
export async function checkPassword(
  record: SignInRecord | undefined,
  password: string,
): Promise<{ record: SignInRecord; newHash: string | undefined } | undefined> {
  const { right, outdated } = await verifyPassword(password, record?.login_password ?? dummyHash())
  if (!right || record?.login_password === undefined || record.disabled) return undefined
  return { record, newHash: outdated ? await hashPassword(password) : undefined }
}

const hourMilliseconds = 3_600_000

/** Maximum number of codes that are mailed to a user in an hour. */
const maxMails = 5

/**
 * Creates a login ticket, and a code to mail unless the user got five in the last hour. Starts again if
 * another request changes the sign-in record meanwhile. If that request has changed the password, `password`
 * must match the new one.
 */
export async function openTicket(
  attempt: PasswordAttempt,
  checked: { record: SignInRecord; newHash: string | undefined },
  password: string,
) {
  const { address, at, network } = attempt
  const now = Date.now()
  let current = checked
  for (let attempts = 1; ; attempts += 1) {
    const { record, newHash } = current
    const mails = nextMails(record, now)
    if (mails === undefined && enrolledMethods(record).length === 0)
      throw await noMoreMails(record, attempt, now)
    const ticket = newLoginTicket(record.user_id)
    const code = mails && newMailedCode()
    const codeDigest = code === undefined ? undefined : digestMailedCode(ticket, code)
    const stored = { hash: ticketHash(ticket, address), expiresAt: ticketExpiry(now), codeDigest, network }
    try {
      await addTicket(record, { reservedAt: at, ticket: stored, mails, newHash }, now)
      return { record, ticket, code, stored }
    } catch (error) {
      if (!(error instanceof SignInRecordChanged)) throw error
      current = await checkAgain(current, error.record, password)
      if (attempts === maxAttempts) throw error
    }
    await backOff(attempts)
  }
}

const recentMails = ({ mails }: SignInRecord, now: number): number[] =>
  mails.filter((mailedAt) => mailedAt > now - hourMilliseconds)

/** When codes were mailed in the last hour, and now; undefined if no more may be mailed. */
function nextMails(record: SignInRecord, now: number): number[] | undefined {
  const recent = recentMails(record, now)
  return recent.length < maxMails ? [...recent, now] : undefined
}

/** Takes back the try of a user who needs a mail and may get none, and warns them. */
async function noMoreMails(
  record: SignInRecord,
  { key, at }: PasswordAttempt,
  now: number,
): Promise<Failure> {
  await giveBackPasswordTry(key, at)
  log.appendKeys({ limit: 'mail' })
  await warnOwner(record, 'no_more_mails', now)
  const wait = Math.min(...recentMails(record, now)) + hourMilliseconds - now
  return new Failure('too_many_requests', { retryAfterSeconds: Math.ceil(wait / 1000) })
}

/** Checks a password against a record that has changed since; throws `bad_credentials` if it is wrong now. */
async function checkAgain(
  before: { record: SignInRecord; newHash: string | undefined },
  record: SignInRecord,
  password: string,
) {
  if (record.login_password === before.record.login_password && !record.disabled) return { ...before, record }
  const checked = await checkPassword(record, password)
  if (checked === undefined) throw new Failure('bad_credentials')
  return checked
}

/** The second factors that a user has besides the mailed code. */
export function enrolledMethods({ totp_secret, passkey }: SignInRecord): TwoFactorMethod[] {
  return [
    ...(totp_secret === undefined ? [] : (['AUTHENTICATOR'] as const)),
    ...(passkey ? (['PASSKEY'] as const) : []),
  ]
}

/** Thrown if the sign-in record has changed since it was read. `record` is the record as stored now. */
export class SignInRecordChanged extends OptimisticLockError {
  override readonly name = 'SignInRecordChanged'
  readonly record: SignInRecord

  constructor(record: SignInRecord) {
    super('the sign-in record was changed')
    this.record = record
  }
}

/** The changes to a sign-in record after a right password. */
export interface PasswordStep {
  /** When the password try was counted, epoch milliseconds. */
  reservedAt: number
  ticket: { hash: string; expiresAt: number; codeDigest: Uint8Array | undefined; network: string }
  /** The new value of the record's `mails`; undefined if no mail is sent. */
  mails: number[] | undefined
  /** A new hash of the password, when the stored one has outdated parameters. */
  newHash: string | undefined
}

/**
 * In one write, adds a login ticket, records its mail, and lowers the count of password tries. Throws
 * SignInRecordChanged if the user was disabled meanwhile, or if the password or the list of mails changed.
 */
export async function addTicket(record: SignInRecord, step: PasswordStep, now: number): Promise<void> {
  const { ticket, mails, newHash } = step
  const removal = removeFromRecord(record, now, { tickets: replacedTickets(record, ticket.network) })
  await writeItem({
    Update: {
      Key: signInKey(record.user_id),
      UpdateExpression: [
        'SET tickets.#ticket = :ticket',
        ...(mails ? [', mails = :mails'] : []),
        ...(newHash === undefined ? [] : [', login_password = :newHash']),
        ` ADD #try :minusOne ${removal.clause}`,
      ].join(''),
      ConditionExpression: [
        'login_password = :hash AND disabled = :false AND attribute_not_exists(tickets.#ticket)',
        ...(mails ? ['mails = :mailsBefore'] : []),
      ].join(' AND '),
      ExpressionAttributeNames: {
        ...removal.names,
        '#ticket': ticket.hash,
        '#try': tryAttribute(passwordCounter, step.reservedAt),
      },
      ExpressionAttributeValues: {
        ':ticket': {
          expires_at: ticket.expiresAt,
          tried: {},
          code: ticket.codeDigest,
          network: ticket.network,
        },
        ':hash': record.login_password,
        ':false': false,
        ':minusOne': -1,
        ...(mails && { ':mails': mails, ':mailsBefore': record.mails }),
        ...(newHash !== undefined && { ':newHash': newHash }),
      },
    },
    isDone: (stored) => ticket.hash in v.parse(SignInRecord, stored).tickets,
    otherwise: (stored) => new SignInRecordChanged(v.parse(SignInRecord, stored)),
  })
}

/**
 * Maximum numbers of a user's live login tickets: for one network, for all known networks together, and for
 * all unknown ones. A network is known if the user has signed in from it. A ticket from an unknown network
 * never replaces one from a known network, so strangers cannot end the user's sign-ins.
 */
const maxTickets = { ofKind: 32, ofNetwork: 16 }

/** Lists the tickets (hashes) that must go because a new one is added from this network. */
function replacedTickets({ tickets, networks }: SignInRecord, network: string): string[] {
  const isKnown = networks.includes(network)
  const ofKind = Object.entries(tickets)
    .sort(([, one], [, other]) => other.expires_at - one.expires_at)
    .filter(([, ticket]) => networks.includes(ticket.network) === isKnown)
  const ofNetwork = ofKind.filter(([, ticket]) => ticket.network === network)
  const replaced = [...ofKind.slice(maxTickets.ofKind - 1), ...ofNetwork.slice(maxTickets.ofNetwork - 1)]
  return replaced.map(([hash]) => hash)
}
