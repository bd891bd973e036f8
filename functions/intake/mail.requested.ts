import * as v from 'valibot'
import { BadRequestException, MessageRejected, SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { awsClient } from '../../shared/aws/aws-client.ts'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { intake } from '../../shared/events/intake.ts'
import { RejectedEvent } from '../../shared/events/rejected-event.ts'
import { settings } from '../../shared/settings.ts'
import {
  composeCodeMail,
  composeWarningMail,
  mailRequested,
  SixDigits,
  warningLifetimeMilliseconds,
} from '../../shared/sign-in/mailed-code.ts'
import { BusinessKey, clockToleranceMilliseconds, instantAhead } from '../../shared/fields.ts'
import { EmailAddress } from '../../shared/users/identity.ts'

const ses = awsClient(new SESv2Client(clientOptions()))

const fieldsOf = (lifetimeMilliseconds: () => number) => ({
  mail_id: BusinessKey,
  to: EmailAddress,
  /** When the mail is of no more use, epoch milliseconds; a code expires then. */
  expires_at: instantAhead(
    () => lifetimeMilliseconds() + clockToleranceMilliseconds,
    'must not be later than a mail of its kind expires',
  ),
})

const codeFields = fieldsOf(() => settings().loginTicketTtlSeconds * 1000)
const warningFields = fieldsOf(() => warningLifetimeMilliseconds)

/**
 * Mails a sign-in code, or a warning that a user's codes are being guessed, unless it has expired. The event
 * is not recorded. When the queue delivers it twice, the same mail is sent twice, which does less harm than a
 * mail lost between recording and sending.
 */
export const handler = intake({
  detailType: mailRequested,
  detail: v.variant('kind', [
    v.object({ ...codeFields, kind: v.literal('code'), code: SixDigits }),
    v.object({ ...warningFields, kind: v.literal('wrong_codes') }),
  ]),
  key: ({ mail_id }) => mail_id,
  rejections: ['expired', 'mail_refused'],
  async apply(mail) {
    const now = Date.now()
    const { to, expires_at } = mail
    if (expires_at <= now) throw new RejectedEvent('expired')
    const { subject, text } =
      mail.kind === 'code' ? composeCodeMail(mail.code, expires_at, now) : composeWarningMail()
    const content = (data: string) => ({ Data: data, Charset: 'UTF-8' })
    const command = new SendEmailCommand({
      FromEmailAddress: settings().mailFrom,
      Destination: { ToAddresses: [to] },
      Content: { Simple: { Subject: content(subject), Body: { Text: content(text) } } },
    })
    try {
      await ses.send(command)
    } catch (error) {
      throw isRefusedRecipient(error) ? new RejectedEvent('mail_refused') : error
    }
    return 'applied'
  },
})

/**
 * Whether SES refuses the recipient (SES guide, "Amazon SES email sending errors"): the address is not well
 * formed, or not verified while the account is in the sandbox. If the text names the sender among the
 * unverified addresses, the fault is ours.
 */
function isRefusedRecipient(error: unknown): boolean {
  if (error instanceof BadRequestException) return true
  return (
    error instanceof MessageRejected &&
    !error.message.toLowerCase().includes(settings().mailFrom.toLowerCase())
  )
}
