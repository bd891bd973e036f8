import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { Integer, type Key, ttlAfter } from '../db/table.ts'
import { type Write, writeItem } from '../db/write.ts'
import { Failure } from '../errors.ts'
import { settings } from '../settings.ts'

/** Maximum number of codes that can be tried with one login ticket, over both methods. */
const maxAttempts = 5

const tickets = itemType({
  pk: 'TICKET#{hash}',
  sk: 'TICKET',
  holds: 'a login ticket, by its SHA-256: its user, attempts and mailed code',
  found: 'by ticket',
})

/** The stored data of a login ticket that the second factor needs. */
const LoginTicket = v.pipe(
  v.object({
    user_id: Integer,
    /** Digest of the code that was mailed for this login ticket; undefined when none was mailed. */
    code_digest: v.optional(v.string()),
  }),
  v.transform(({ user_id, code_digest }) => ({ userId: user_id, codeDigest: code_digest })),
)
export type LoginTicket = v.InferOutput<typeof LoginTicket>

/** Creates a login ticket of 256 random bits; only its hash is stored. */
export const newLoginTicket = (): string => randomBytes(32).toString('base64url')

/** Stores a login ticket, which makes it work until `expiresAt` (epoch milliseconds). */
export async function putLoginTicket(
  ticket: string,
  holder: { userId: number; normalizedEmail: string; codeDigest: string | undefined; expiresAt: number },
): Promise<void> {
  await writeItem({
    Put: {
      Item: {
        ...ticketKey(ticket),
        user_id: holder.userId,
        email: holder.normalizedEmail,
        code_digest: holder.codeDigest,
        tries: 0,
        expires_at: holder.expiresAt,
        ttl: ttlAfter(holder.expiresAt),
      },
    },
  })
}

/** When a login ticket that is issued at `now` expires, epoch milliseconds. */
export const ticketExpiry = (now: number): number => now + settings().loginTicketTtlSeconds * 1000

/**
 * Counts an attempt on a login ticket before its code is compared, so that simultaneous requests do not get
 * more than five attempts either. Throws `bad_login_ticket`, without counting, when the ticket is unknown,
 * expired, used up or for another email address.
 */
export async function countTicketAttempt(
  ticket: string,
  normalizedEmail: string,
  now: number,
): Promise<LoginTicket> {
  const countAttempt: Write = {
    Update: {
      Key: ticketKey(ticket),
      UpdateExpression: 'ADD tries :one',
      ConditionExpression: 'email = :email AND expires_at > :now AND tries < :max',
      ExpressionAttributeValues: { ':one': 1, ':email': normalizedEmail, ':now': now, ':max': maxAttempts },
    },
    otherwise: () => new Failure('bad_login_ticket'),
  }
  return v.parse(LoginTicket, await writeItem(countAttempt, { returnNew: true }))
}

/** The write that uses a login ticket up. Fails with `bad_login_ticket` when another request was first. */
export const consumeTicket = (ticket: string): Write => ({
  Delete: { Key: ticketKey(ticket), ConditionExpression: 'attribute_exists(pk)' },
  otherwise: () => new Failure('bad_login_ticket'),
})

const ticketKey = (ticket: string): Key =>
  tickets.key({ hash: createHash('sha256').update(ticket).digest('base64url') })
