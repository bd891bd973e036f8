import { intake } from '../../shared/events/intake.ts'
import { RejectedEvent } from '../../shared/events/rejected-event.ts'
import { composeCodeMail, mailRequested, MailRequested } from '../../shared/sign-in/code-mail.ts'
import { sendMail } from '../../shared/sign-in/send-mail.ts'

/**
 * Mails a sign-in code, while it works. Nothing is recorded: should the queue deliver twice, the same code
 * arrives twice, which harms less than a mail that is lost between a record and its sending.
 */
export const handler = intake({
  detailType: mailRequested,
  detail: MailRequested,
  key: ({ mail_id }) => mail_id,
  rejections: ['expired'],
  async apply(detail) {
    const now = Date.now()
    if (detail.expires_at <= now) throw new RejectedEvent('expired')
    const { subject, text } = composeCodeMail(detail, now)
    await sendMail(detail.to, subject, text)
    return 'applied'
  },
})
