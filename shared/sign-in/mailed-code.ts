import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { retry } from '../retry.ts'
import { MailSlotTaken, takeMailSlot, type User } from '../users/user.ts'

/** Schema of a code of six digits, mailed or shown by an authenticator. */
export const SixDigits = v.pipe(v.string(), v.regex(/^\d{6}$/, 'must be six digits'))

/** Creates a mailed code; all one million are equally likely. */
export const newMailedCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

/**
 * Computes the stored form of a mailed code. The HMAC key is the login ticket, of which the table has only a
 * hash. So a stolen table does not allow trying all million codes, and a code does not work with another
 * ticket.
 */
export const digestMailedCode = (ticket: string, code: string): string =>
  createHmac('sha256', ticket).update(code).digest('base64url')

/** Whether a code is the one that was mailed for a login ticket, compared in constant time. */
export function isMailedCode(ticket: string, code: string, digest: string): boolean {
  const actual = Buffer.from(digestMailedCode(ticket, code))
  const expected = Buffer.from(digest)
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}

const hourMilliseconds = 3_600_000

/** The mail slots of a user. Each mail takes one for an hour: at most five mails in any hour. */
const slots = ['s0', 's1', 's2', 's3', 's4']

/** Whether a mail may be sent to the user, and if not, how long until the next one may. */
export type MailClaim = { allowed: true } | { allowed: false; retryAfterSeconds: number }

/** Claims one of the user's five mail slots, atomically; `user` is the user as just read. */
export async function claimMail(user: User, now: number): Promise<MailClaim> {
  let { mails } = user
  return retry(
    async () => {
      const free = slots.find((slot) => (mails[slot] ?? 0) <= now - hourMilliseconds)
      if (free === undefined) return { allowed: false, retryAfterSeconds: secondsUntilFree(mails, now) }
      await takeMailSlot(user.userId, free, { now, freeBefore: now - hourMilliseconds })
      return { allowed: true }
    },
    (error) => {
      if (error instanceof MailSlotTaken) mails = error.mails
      return error instanceof MailSlotTaken
    },
  )
}

function secondsUntilFree(mails: User['mails'], now: number): number {
  const next = Math.min(...slots.map((slot) => mails[slot] ?? now)) + hourMilliseconds
  return Math.max(1, Math.ceil((next - now) / 1000))
}

/** The detail-type of the event that requests a mail. */
export const mailRequested = 'mail.requested'

/** Composes subject and text of the mail with a sign-in code, sent at `now`. */
export function composeCodeMail(code: string, expiresAt: number, now: number) {
  const minutes = Math.max(1, Math.round((expiresAt - now) / 60_000))
  return {
    subject: 'Your sign-in code',
    text: [
      `Your sign-in code is ${code}`,
      '',
      `It works once, for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, in the window where you just signed in.`,
      'If that was not you, somebody knows your password: change it.',
      '',
    ].join('\n'),
  }
}
