import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { newLoginTicket, ticketExpiry, ticketHash } from '../../shared/sign-in/ticket.ts'
import { digestMailedCode } from '../../shared/sign-in/ticket.ts'
import { addTicket } from '../../shared/sign-in/password/open-ticket.ts'
import { reservePasswordTry } from '../../shared/sign-in/password/attempt.ts'
import { signInKey, SignInRecord } from '../../shared/sign-in/record.ts'
import { normalizeEmail } from '../../shared/users/normalize-email.ts'
import type { TestUser } from './sign-in.ts'

/** Gives a user a login ticket that accepts the given code. Checks no password and mails nothing. */
export async function addLoginTicket({ userId, email }: TestUser, code: string): Promise<string> {
  const now = Date.now()
  const ticket = newLoginTicket(userId)
  const record = v.parse(SignInRecord, await reservePasswordTry(signInKey(userId), true, now))
  const stored = {
    hash: ticketHash(ticket, normalizeEmail(email)),
    codeDigest: digestMailedCode(ticket, code),
    expiresAt: ticketExpiry(now),
    network: 'network',
  }
  await addTicket(record, { reservedAt: now, ticket: stored, mails: undefined, newHash: undefined }, now)
  return ticket
}

/** Builds the detail of a `mail.delayed` event with the code 123456 for a user's login ticket. */
export const delayedMail = ({ userId, email }: TestUser, ticket: string) => ({
  mail_id: randomUUID(),
  to: email,
  code: '123456',
  expires_at: Date.now() + 600_000,
  user_id: userId,
  ticket_hash: ticketHash(ticket, normalizeEmail(email)),
})
