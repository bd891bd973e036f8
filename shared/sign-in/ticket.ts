import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { decodeUserId, encodeUserId } from '../fields.ts'
import { settings } from '../settings.ts'

/** Maximum number of codes, from mail and authenticator together, that can be tried with one login ticket. */
export const maxTicketTries = 5

/** A login ticket: `lt_`, user id in base 36, 256 random bits. Opaque to clients. */
const ticketShape = /^lt_([0-9a-z]{1,11})\.[A-Za-z0-9_-]{43}$/

/** Creates a login ticket of a user; only its hash is stored. */
export const newLoginTicket = (userId: number): string =>
  `lt_${encodeUserId(userId)}.${randomBytes(32).toString('base64url')}`

/** Reads the user id that a login ticket claims, unverified; undefined if the text is no login ticket. */
export const claimedTicketUser = (ticket: string): number | undefined =>
  decodeUserId(ticketShape.exec(ticket)?.[1])

/**
 * The stored form of a login ticket: half of the SHA-256 hash of ticket and email address. So a ticket works
 * only with the email address that was given with the password.
 */
export const ticketHash = (ticket: string, normalizedEmail: string): string =>
  createHash('sha256').update(`${ticket} ${normalizedEmail}`).digest().subarray(0, 16).toString('base64url')

/** The expiry of a login ticket that is issued at `now`, in epoch milliseconds. */
export const ticketExpiry = (now: number): number => now + settings().loginTicketTtlSeconds * 1000

/** Schema of a six-digit code, which is mailed or shown by an authenticator. */
export const SixDigits = v.pipe(v.string(), v.regex(/^\d{6}$/, 'must be six digits'))

/** Creates a code to mail; all one million codes are equally likely. */
export const newMailedCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

/**
 * Computes the stored form of a mailed code. The HMAC key is the login ticket, so a code works only with its
 * ticket. The table has only the ticket's hash, so a stolen table does not allow trying all million codes.
 */
export const digestMailedCode = (ticket: string, code: string): Uint8Array =>
  createHmac('sha256', ticket).update(code).digest()

/** Whether a code is the one that was mailed for a login ticket, compared in constant time. */
export const isMailedCode = (ticket: string, code: string, digest: Uint8Array): boolean =>
  timingSafeEqual(digestMailedCode(ticket, code), digest)

/** The detail-type of the event that requests a mail. */
export const mailRequested = 'mail.requested'

/** The detail-type of the event that requests a delayed mail. No mail is sent if the user signs in first. */
export const mailDelayed = 'mail.delayed'
