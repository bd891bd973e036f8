import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'

/** Schema of a code of six digits, mailed or shown by an authenticator. */
export const SixDigits = v.pipe(v.string(), v.regex(/^\d{6}$/, 'must be six digits'))

/** Creates a mailed code; all one million are equally likely. */
export const newMailedCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

/**
 * Computes the stored form of a mailed code. The HMAC key is the login ticket, of which the table has only a
 * hash. So a stolen table does not allow trying all million codes, and a code does not work with another
 * ticket.
 */
export const digestMailedCode = (ticket: string, code: string): Uint8Array =>
  createHmac('sha256', ticket).update(code).digest()

/** Whether a code is the one that was mailed for a login ticket, compared in constant time. */
export const isMailedCode = (ticket: string, code: string, digest: Uint8Array): boolean =>
  timingSafeEqual(digestMailedCode(ticket, code), digest)

const hourMilliseconds = 3_600_000

/** The mail slots of a user. Each mail takes one for an hour: at most five mails in any hour. */
const slots = ['s0', 's1', 's2', 's3', 's4']

/** The mail slots of a user, as stored: when each was last used, epoch milliseconds. */
type MailSlots = Record<string, number>

/** Finds a mail slot that is free at `now`; undefined if all five are taken. */
export function freeMailSlot(
  mails: MailSlots,
  now: number,
): { name: string; freeBefore: number } | undefined {
  const freeBefore = now - hourMilliseconds
  const name = slots.find((slot) => (mails[slot] ?? 0) <= freeBefore)
  return name === undefined ? undefined : { name, freeBefore }
}

/** Seconds until the first of the taken mail slots is free again. */
export function secondsUntilFreeSlot(mails: MailSlots, now: number): number {
  const next = Math.min(...slots.map((slot) => mails[slot] ?? now)) + hourMilliseconds
  return Math.max(1, Math.ceil((next - now) / 1000))
}

/** The detail-type of the event that requests a mail. */
export const mailRequested = 'mail.requested'

/** The detail-type of the event that requests a code by mail unless the sign-in is completed without it. */
export const mailDelayed = 'mail.delayed'

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

/** How long a warning is worth delivering: for as long as it lasts that the user cannot sign in. */
export const warningLifetimeMilliseconds = hourMilliseconds

/** Composes subject and text of the mail to a user whose second factor is being guessed. */
export const composeWarningMail = () => ({
  subject: 'Somebody tries to sign in as you',
  text: [
    'Somebody knows your password, and has entered many wrong codes to sign in as you.',
    '',
    'Nobody can sign in to your account for up to an hour. If it was not you, change your password.',
    '',
  ].join('\n'),
})
