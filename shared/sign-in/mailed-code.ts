import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'

/** A code of six digits, as it is mailed or shown by an authenticator. */
export const SixDigits = v.pipe(v.string(), v.regex(/^\d{6}$/, 'must be six digits'))

/** A new code, every one of the million equally likely. */
export const newMailedCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

/**
 * What is kept of a mailed code. The key is the ticket, of which the table has only a hash, so that a million tries over
 * a stolen table find nothing, and a code fits no other ticket.
 */
export const digestMailedCode = (ticket: string, code: string): string =>
  createHmac('sha256', ticket).update(code).digest('base64url')

/** Whether a code is the one that was mailed for a ticket. */
export function isMailedCode(ticket: string, code: string, digest: string): boolean {
  const sent = Buffer.from(digestMailedCode(ticket, code))
  const kept = Buffer.from(digest)
  return sent.length === kept.length && timingSafeEqual(sent, kept)
}
