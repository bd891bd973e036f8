import { randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { ConditionFailed, type Write, writeItem } from '../../db/write.ts'
import { Failure } from '../../errors.ts'
import { maxTicketTries } from '../ticket.ts'
import { codeCounter, removeFromRecord, signInKey, SignInRecord, warningAttributes } from '../record.ts'
import { addNetwork } from '../limits/source.ts'
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
      UpdateExpression: 'SET tickets.#ticket.tried.#try = :true ADD #code :one, wrong_codes :one',
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
          UpdateExpression: 'REMOVE tickets.#ticket.tried.#try ADD #code :minusOne, wrong_codes :minusOne',
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
    attributes: ['wrong_codes', ...warningAttributes, ...attributesOf(record.item, codeCounter)],
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
