import * as v from 'valibot'
import { type Write, writeIf, writeItem } from '../db/write.ts'
import { Failure } from '../errors.ts'
import { maxTicketTries } from './login-ticket.ts'
import { removeFromRecord, signInKey, SignInRecord } from './sign-in-record.ts'
import { attributesOf, tryAttribute } from './try-counts.ts'

/** Name of the counter of wrong second factors over all login tickets. */
export const codeCounter = 'code'

/**
 * Counts a try of a second factor, for its login ticket and for the user, before the code is compared, so
 * that simultaneous requests cannot pass a limit together. Throws `bad_login_ticket`, without counting, when
 * the ticket is unknown, expired or used up.
 */
export async function reserveCodeTry(userId: number, hash: string, now: number): Promise<SignInRecord> {
  const reserve: Write = {
    Update: {
      Key: signInKey(userId),
      UpdateExpression: 'SET tickets.#ticket.tries = tickets.#ticket.tries + :one ADD #code :one',
      ConditionExpression: 'tickets.#ticket.expires_at > :now AND tickets.#ticket.tries < :max',
      ExpressionAttributeNames: { '#ticket': hash, '#code': tryAttribute(codeCounter, now) },
      ExpressionAttributeValues: { ':one': 1, ':now': now, ':max': maxTicketTries },
    },
    otherwise: () => new Failure('bad_login_ticket'),
  }
  return v.parse(SignInRecord, await writeItem(reserve, { returnNew: true }))
}

/** Takes a reserved try of a second factor back, unless a sign-in or a new secret has ended the ticket. */
export const giveBackCodeTry = (userId: number, hash: string, reservedAt: number): Promise<boolean> =>
  writeIf({
    Update: {
      Key: signInKey(userId),
      UpdateExpression: 'SET tickets.#ticket.tries = tickets.#ticket.tries - :one ADD #code :minusOne',
      ConditionExpression: 'attribute_exists(tickets.#ticket) AND #code >= :one',
      ExpressionAttributeNames: { '#ticket': hash, '#code': tryAttribute(codeCounter, reservedAt) },
      ExpressionAttributeValues: { ':one': 1, ':minusOne': -1 },
    },
  })

/**
 * Claims the mail about too many wrong codes; resolves with whether it is to be sent. One may be, per hour.
 */
export const claimWarning = (userId: number, now: number, lastBefore: number): Promise<boolean> =>
  writeIf({
    Update: {
      Key: signInKey(userId),
      UpdateExpression: 'SET warned_at = :now',
      ConditionExpression: 'attribute_not_exists(warned_at) OR warned_at <= :before',
      ExpressionAttributeValues: { ':now': now, ':before': lastBefore },
    },
  })

/** Gives the claim of a warning back, when its mail could not be requested. */
export const giveBackWarning = (userId: number, claimedAt: number): Promise<boolean> =>
  writeIf({
    Update: {
      Key: signInKey(userId),
      UpdateExpression: 'REMOVE warned_at',
      ConditionExpression: 'warned_at = :at',
      ExpressionAttributeValues: { ':at': claimedAt },
    },
  })

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
