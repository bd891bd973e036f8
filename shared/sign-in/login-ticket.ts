import { createHash, randomBytes } from 'node:crypto'
import { settings } from '../settings.ts'
import { decodeUserId, encodeUserId } from '../users/opaque-user-id.ts'

/** Maximum number of codes that are compared with one login ticket, over both methods. */
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
 * The stored form of a login ticket: half of the SHA-256 of ticket and email address. With another address
 * than that of the password step, the ticket is not found.
 */
export const ticketHash = (ticket: string, normalizedEmail: string): string =>
  createHash('sha256').update(`${ticket} ${normalizedEmail}`).digest().subarray(0, 16).toString('base64url')

/** When a login ticket that is issued at `now` expires, epoch milliseconds. */
export const ticketExpiry = (now: number): number => now + settings().loginTicketTtlSeconds * 1000
