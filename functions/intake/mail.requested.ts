import * as v from 'valibot'
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { intake } from '../../shared/events/intake.ts'
import { RejectedEvent } from '../../shared/events/rejected-event.ts'
import { settings } from '../../shared/settings.ts'
import { composeCodeMail, mailRequested, SixDigits } from '../../shared/sign-in/mailed-code.ts'
import { BusinessKey, Instant } from '../../shared/fields.ts'
import { EmailAddress } from '../../shared/users/identity.ts'

const ses = new SESv2Client(clientOptions())

/**
 * Mails a sign-in code unless it has expired. The event is not recorded. When the queue delivers it twice,
 * the same code is mailed twice, which does less harm than a mail lost between recording and sending.
 */
export const handler = intake({
  detailType: mailRequested,
  detail: v.object({
    mail_id: BusinessKey,
    to: EmailAddress,
    code: SixDigits,
    /** When the mailed code expires, epoch milliseconds. */
    expires_at: Instant,
  }),
  key: ({ mail_id }) => mail_id,
  rejections: ['expired'],
  async apply({ to, code, expires_at }) {
    const now = Date.now()
    if (expires_at <= now) throw new RejectedEvent('expired')
    const { subject, text } = composeCodeMail(code, expires_at, now)
    const content = (data: string) => ({ Data: data, Charset: 'UTF-8' })
    await ses.send(
      new SendEmailCommand({
        FromEmailAddress: settings().mailFrom,
        Destination: { ToAddresses: [to] },
        Content: { Simple: { Subject: content(subject), Body: { Text: content(text) } } },
      }),
    )
    return 'applied'
  },
})
