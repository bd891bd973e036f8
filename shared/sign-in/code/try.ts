import { randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { ConditionFailed, type Write, writeIf, writeItem } from '../../db/write.ts'
import { Failure } from '../../errors.ts'
import { publishEvent } from '../../events/publish-event.ts'
import { mailRequested, maxTicketTries } from '../ticket.ts'
import { codeCounter, removeFromRecord, signInKey, SignInRecord } from '../record.ts'
import { attributesOf, tryAttribute } from '../limits/tries.ts'

/** A counted try of a second factor. */
export interface CodeTry {
  /** An id of its own in the login ticket, so that it is counted once and given back once. */
  id: string
  userId: number
  ticketHash: string
  /** When it was counted, epoch milliseconds. */
  at: number
}

/** A try of a second factor at this instant, not yet counted. */
export const newCodeTry = (userId: number, ticketHash: string, at: number): CodeTry => ({
  id: randomBytes(6).toString('base64url'),
  userId,
  ticketHash,
  at,
})

const tryNames = ({ id, ticketHash, at }: CodeTry) => ({
  '#ticket': ticketHash,
  '#try': id,
  '#code': tryAttribute(codeCounter, at),
})

/**
 * Counts a try of a second factor, for its login ticket and for the user, before the code is compared, so
 * that simultaneous requests cannot pass a limit together. Throws `bad_login_ticket`, without counting, when
 * the ticket is unknown, expired or used up.
 */
export async function reserveCodeTry(codeTry: CodeTry): Promise<SignInRecord> {
  const { id, userId, ticketHash, at } = codeTry
  const reserve: Write = {
    Update: {
      Key: signInKey(userId),
      UpdateExpression: 'SET tickets.#ticket.tried.#try = :true ADD #code :one',
      ConditionExpression: [
        'tickets.#ticket.expires_at > :now',
        'size(tickets.#ticket.tried) < :max',
        'attribute_not_exists(tickets.#ticket.tried.#try)',
      ].join(' AND '),
      ExpressionAttributeNames: tryNames(codeTry),
      ExpressionAttributeValues: { ':true': true, ':one': 1, ':now': at, ':max': maxTicketTries },
    },
    isDone: (stored) => {
      const record = stored && v.parse(SignInRecord, stored)
      return record?.tickets[ticketHash]?.tried[id] ?? false
    },
    otherwise: () => new Failure('bad_login_ticket'),
  }
  return v.parse(SignInRecord, await writeItem(reserve, { returnNew: true }))
}

/**
 * Takes a counted try of a second factor back, unless a sign-in or a new secret has ended the ticket.
 * Resolves with the record after it; undefined if there was nothing to take back.
 */
export async function giveBackCodeTry(codeTry: CodeTry): Promise<SignInRecord | undefined> {
  try {
    const item = await writeItem(
      {
        Update: {
          Key: signInKey(codeTry.userId),
          UpdateExpression: 'REMOVE tickets.#ticket.tried.#try ADD #code :minusOne',
          ConditionExpression: 'attribute_exists(tickets.#ticket.tried.#try) AND #code >= :one',
          ExpressionAttributeNames: tryNames(codeTry),
          ExpressionAttributeValues: { ':one': 1, ':minusOne': -1 },
        },
      },
      { returnNew: true },
    )
    return v.parse(SignInRecord, item)
  } catch (error) {
    if (error instanceof ConditionFailed) return undefined
    throw error
  }
}

/** What a right second factor changes in a sign-in record. */
export interface CodeStep {
  ticketHash: string
  /** Time step of a TOTP, which is used up. */
  totpStep: number | undefined
  /** Digest of the source network, which becomes a known one. */
  network: string
}

/** Maximum number of source networks that are remembered of a user. */
const maxNetworks = 8

/**
 * The write that completes a sign-in, for the transaction that puts its token: it uses up the ticket and the
 * time step of a TOTP, clears the count of wrong codes, and remembers the source network. Fails with
 * `bad_login_ticket` when the ticket is used or the user disabled, and with `bad_verification_code` when the
 * time step is used (RFC 6238 §5.2).
 */
export function acceptSecondFactor(record: SignInRecord, step: CodeStep, now: number): Write {
  const { ticketHash: hash, totpStep, network } = step
  const removal = removeFromRecord(record, now, {
    tickets: [hash],
    attributes: ['warned_at', ...attributesOf(record.item, codeCounter)],
  })
  return {
    Update: {
      Key: signInKey(record.userId),
      UpdateExpression: [
        'SET networks = :networks',
        ...(totpStep === undefined ? [] : [', last_totp_step = :step']),
        ` ${removal.clause}`,
      ].join(''),
      ConditionExpression: [
        'attribute_exists(tickets.#ticket) AND disabled = :false',
        ...(totpStep === undefined
          ? []
          : ['(attribute_not_exists(last_totp_step) OR last_totp_step < :step)']),
      ].join(' AND '),
      ExpressionAttributeNames: { ...removal.names, '#ticket': hash },
      ExpressionAttributeValues: {
        ':false': false,
        ':networks': [network, ...record.networks.filter((known) => known !== network)].slice(0, maxNetworks),
        ...(totpStep !== undefined && { ':step': totpStep }),
      },
    },
    otherwise(stored) {
      const { tickets, disabled } = v.parse(SignInRecord, stored)
      return new Failure(!disabled && hash in tickets ? 'bad_verification_code' : 'bad_login_ticket')
    },
  }
}

/** How long a warning is worth delivering: for as long as it lasts that the user cannot sign in. */
export const warningLifetimeMilliseconds = 3_600_000

/** How long a claim keeps other requests from sending the warning, before the mail is requested. */
const claimMilliseconds = 60_000

/**
 * Tells a user by mail that somebody who knows their password tries codes: at most once an hour, also when
 * several requests meet the limit at once. If the mail is not requested, even because of a crash, a request
 * that is refused more than a minute later tries again.
 */
export async function warnOwner({ userId, email, warnedAt = 0 }: SignInRecord, now: number): Promise<void> {
  const hourAgo = now - warningLifetimeMilliseconds
  const claimed = hourAgo + claimMilliseconds
  if (warnedAt > hourAgo || !(await claimWarning(userId, claimed, hourAgo))) return
  await publishEvent(mailRequested, {
    mail_id: `wrong-codes-${userId}-${now}`,
    kind: 'wrong_codes',
    to: email,
    expires_at: now + warningLifetimeMilliseconds,
  })
  await confirmWarning(userId, claimed, now)
}

const setWarnedAt = (userId: number, at: number, condition: string, compared: number): Promise<boolean> =>
  writeIf({
    Update: {
      Key: signInKey(userId),
      UpdateExpression: 'SET warned_at = :at',
      ConditionExpression: condition,
      ExpressionAttributeValues: { ':at': at, ':compared': compared },
    },
  })

/**
 * Claims the mail about too many wrong codes; resolves with whether it is to be sent. `until` is the instant
 * that the record then has, and `lastBefore` the one from which on another warning is too early.
 */
const claimWarning = (userId: number, until: number, lastBefore: number): Promise<boolean> =>
  setWarnedAt(userId, until, 'attribute_not_exists(warned_at) OR warned_at <= :compared', lastBefore)

const confirmWarning = (userId: number, claimed: number, now: number): Promise<boolean> =>
  setWarnedAt(userId, now, 'warned_at = :compared', claimed)
