import * as v from 'valibot'
import { type Item, type Key, ttlAfter } from '../db/table.ts'
import { writeItem } from '../db/write.ts'
import { OptimisticLockError } from '../errors.ts'
import { removeFromRecord, signInKey, SignInRecord } from './sign-in-record.ts'
import { expiredAttributes, removeAttributes, tryAttribute } from './try-counts.ts'

/** Name of the counter of wrong passwords over all sources. */
export const passwordCounter = 'password'

/**
 * Counts a password try over all sources before the password is compared, and resolves with the item. The
 * item of an unknown address is created, with a TTL; that of a user must exist.
 */
export async function reservePasswordTry(key: Key, known: boolean, now: number): Promise<Item> {
  const reserve = {
    Update: {
      Key: key,
      UpdateExpression: `ADD #try :one${known ? '' : ' SET #ttl = :ttl'}`,
      ...(known && { ConditionExpression: 'attribute_exists(pk)' }),
      ExpressionAttributeNames: {
        '#try': tryAttribute(passwordCounter, now),
        ...(!known && { '#ttl': 'ttl' }),
      },
      ExpressionAttributeValues: { ':one': 1, ...(!known && { ':ttl': ttlAfter(now) }) },
    },
  }
  return (await writeItem(reserve, { returnNew: true })) ?? {}
}

/** Takes a reserved password try back, and resolves with the item. */
export async function giveBackPasswordTry(key: Key, reservedAt: number): Promise<Item> {
  const giveBack = {
    Update: {
      Key: key,
      UpdateExpression: 'ADD #try :minusOne',
      ExpressionAttributeNames: { '#try': tryAttribute(passwordCounter, reservedAt) },
      ExpressionAttributeValues: { ':minusOne': -1 },
    },
  }
  return (await writeItem(giveBack, { returnNew: true })) ?? {}
}

/**
 * Number of expired counts at which a wrong password removes them, because the item must not grow for ever.
 */
const maxExpiredCounts = 16

/** Removes the expired counts of an item when there are many; a sign-in removes them anyway. */
export async function removeExpiredCounts(key: Key, item: Item, now: number): Promise<void> {
  const expired = expiredAttributes(item, now)
  if (expired.length < maxExpiredCounts) return
  const { clause, names } = removeAttributes(expired)
  await writeItem({ Update: { Key: key, UpdateExpression: clause, ExpressionAttributeNames: names } })
}

/** Error: the record has changed since it was read. `record` is the record as stored now. */
export class SignInRecordChanged extends OptimisticLockError {
  override readonly name = 'SignInRecordChanged'
  readonly record: SignInRecord

  constructor(record: SignInRecord) {
    super('the sign-in record was changed')
    this.record = record
  }
}

/** What a right password changes in a sign-in record. */
export interface PasswordStep {
  /** When the password try was reserved, epoch milliseconds. */
  reservedAt: number
  ticket: { hash: string; expiresAt: number; codeDigest: Uint8Array | undefined }
  /** The mail slot to take, if a code is to be mailed. */
  mailSlot: { name: string; freeBefore: number } | undefined
  /** A new hash of the password, when the stored one has outdated parameters. */
  newHash: string | undefined
}

/**
 * Completes the password step in one write: adds the login ticket, takes the mail slot and takes the reserved
 * try back. Throws SignInRecordChanged when the password, `disabled` or the mail slot is no longer as in
 * `record`: a ticket must not outlive the password that it was given for.
 */
export async function addTicket(record: SignInRecord, step: PasswordStep, now: number): Promise<void> {
  const { ticket, mailSlot, newHash } = step
  const removal = removeFromRecord(record, now, { newTickets: 1 })
  await writeItem({
    Update: {
      Key: signInKey(record.userId),
      UpdateExpression: [
        'SET tickets.#ticket = :ticket',
        ...(mailSlot ? [', mails.#slot = :now'] : []),
        ...(newHash === undefined ? [] : [', login_password = :newHash']),
        ` ADD #try :minusOne ${removal.clause}`,
      ].join(''),
      ConditionExpression: [
        'login_password = :hash AND disabled = :false AND attribute_not_exists(tickets.#ticket)',
        ...(mailSlot ? ['(attribute_not_exists(mails.#slot) OR mails.#slot <= :freeBefore)'] : []),
      ].join(' AND '),
      ExpressionAttributeNames: {
        ...removal.names,
        '#ticket': ticket.hash,
        '#try': tryAttribute(passwordCounter, step.reservedAt),
        ...(mailSlot && { '#slot': mailSlot.name }),
      },
      ExpressionAttributeValues: {
        ':ticket': { expires_at: ticket.expiresAt, tried: {}, code: ticket.codeDigest },
        ':hash': record.loginPassword,
        ':false': false,
        ':minusOne': -1,
        ...(mailSlot && { ':now': now, ':freeBefore': mailSlot.freeBefore }),
        ...(newHash !== undefined && { ':newHash': newHash }),
      },
    },
    isDone: (stored) => ticket.hash in v.parse(SignInRecord, stored).tickets,
    otherwise: (stored) => new SignInRecordChanged(v.parse(SignInRecord, stored)),
  })
}
