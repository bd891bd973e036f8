import { BadRequestException, MessageRejected, SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { awsClient } from '../aws/aws-client.ts'
import { clientOptions } from '../aws/client-options.ts'
import { RejectedEvent, type RejectionReason } from '../events/rejected-event.ts'
import { BusinessKey, clockToleranceMilliseconds, instantAhead } from '../fields.ts'
import { settings } from '../settings.ts'
import { EmailAddress } from '../users/identity.ts'
import { toMailAddress } from '../users/normalize-email.ts'
import { SixDigits } from './ticket.ts'
import type { warningKinds } from './warn-owner.ts'

const ses = awsClient(new SESv2Client(clientOptions()))

/** The fields of an event that requests a mail. `lifetimeMilliseconds` limits `expires_at`. */
export const mailFields = (lifetimeMilliseconds: () => number) => ({
  mail_id: BusinessKey,
  to: EmailAddress,
  /** From this instant, the mail is useless and is not sent; epoch milliseconds. */
  expires_at: instantAhead(
    () => lifetimeMilliseconds() + clockToleranceMilliseconds,
    'must not be later than a mail of its kind expires',
  ),
})

/** The fields of an event that requests a mail with a sign-in code. */
export const codeMailFields = {
  ...mailFields(() => settings().loginTicketTtlSeconds * 1000),
  code: SixDigits,
}

/** The reasons for which sendMail refuses a mail. */
export const mailRejections: readonly RejectionReason[] = ['expired', 'mail_refused']

/**
 * Sends the mail that `compose` returns for the current time. Throws RejectedEvent if the mail has expired or
 * SES refuses its recipient.
 */
export async function sendMail(
  { to, expires_at }: { to: string; expires_at: number },
  compose: (now: number) => { subject: string; text: string },
): Promise<void> {
  const now = Date.now()
  if (expires_at <= now) throw new RejectedEvent('expired')
  const { subject, text } = compose(now)
  const content = (data: string) => ({ Data: data, Charset: 'UTF-8' })
  const command = new SendEmailCommand({
    FromEmailAddress: settings().mailFrom,
    Destination: { ToAddresses: [toMailAddress(to)] },
    Content: { Simple: { Subject: content(subject), Body: { Text: content(text) } } },
  })
  try {
    await ses.send(command)
  } catch (error) {
    throw isRefusedRecipient(error) ? new RejectedEvent('mail_refused') : error
  }
}

/**
 * Whether SES refuses the recipient's address, as malformed or as unverified in the sandbox (SES guide,
 * "Amazon SES email sending errors"). False if the error names our own sender.
 */
function isRefusedRecipient(error: unknown): boolean {
  if (error instanceof BadRequestException) return true
  return (
    error instanceof MessageRejected &&
    !error.message.toLowerCase().includes(settings().mailFrom.toLowerCase())
  )
}

/** Composes subject and text of a mail that contains a sign-in code. The mail is sent at `now`. */
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

/** The text of each warning to a user whose password somebody else knows. */
const warningTexts: Record<(typeof warningKinds)[number], string[]> = {
  wrong_codes: [
    'Somebody knows your password, and has entered many wrong codes to sign in as you.',
    'Nobody can sign in to your account for up to an hour. If it was not you, change your password.',
  ],
  codes_closed: [
    'Somebody knows your password, and has entered a hundred wrong codes to sign in as you.',
    'Nobody can sign in to your account until you have changed your password or your authenticator.',
  ],
  no_more_mails: [
    'Your password has been entered so often that no more codes are mailed to you for up to an hour.',
    'If it was not you, somebody knows your password: change it.',
  ],
}

/** Composes subject and text of a mail that warns a user. */
export const composeWarningMail = (kind: (typeof warningKinds)[number]) => ({
  subject: 'Many tries to sign in as you',
  text: [...warningTexts[kind].flatMap((line) => [line, ''])].join('\n'),
})
