import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { BusinessKey, Instant } from '../events/fields.ts'
import { publishEvent } from '../events/publish-event.ts'
import { EmailAddress } from '../users/identity.ts'
import { SixDigits } from './mailed-code.ts'

/** Name of the event by which a mail is asked for. */
export const mailRequested = 'mail.requested'

/** `detail` of `mail.requested`: a sign-in code that is to be mailed. */
export const MailRequested = v.object({
  mail_id: BusinessKey,
  to: EmailAddress,
  code: SixDigits,
  /** When the code stops working. */
  expires_at: Instant,
})
export type MailRequested = v.InferOutput<typeof MailRequested>

/**
 * Asks for a code to be mailed. The mail goes out by way of the bus and a queue, so a slow or dead mail service neither
 * slows nor fails a sign-in.
 */
export const requestCodeMail = (to: string, code: string, expiresAt: number): Promise<void> =>
  publishEvent(mailRequested, {
    mail_id: randomUUID(),
    to,
    code,
    expires_at: expiresAt,
  } satisfies MailRequested)

/** Subject and text of the mail, as it reads when it leaves at `now`. */
export function composeCodeMail({ code, expires_at }: MailRequested, now: number) {
  const minutes = Math.max(1, Math.round((expires_at - now) / 60_000))
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
