import * as v from 'valibot'
import { intake } from '../../shared/events/intake.ts'
import { composeCodeMail, composeWarningMail } from '../../shared/sign-in/send-mail.ts'
import { mailRequested } from '../../shared/sign-in/ticket.ts'
import { warningLifetimeMilliseconds } from '../../shared/sign-in/code/try.ts'
import { codeMailFields, mailFields, mailRejections, sendMail } from '../../shared/sign-in/send-mail.ts'

/**
 * Mails a sign-in code, or a warning that a user's codes are being guessed, unless it has expired. The event
 * is not recorded. When the queue delivers it twice, the same mail is sent twice, which does less harm than a
 * mail lost between recording and sending.
 */
export const handler = intake({
  detailType: mailRequested,
  detail: v.variant('kind', [
    v.object({ ...codeMailFields, kind: v.literal('code') }),
    v.object({ ...mailFields(() => warningLifetimeMilliseconds), kind: v.literal('wrong_codes') }),
  ]),
  key: ({ mail_id }) => mail_id,
  unrecorded: true,
  rejections: mailRejections,
  async apply(mail) {
    await sendMail(mail, (now) =>
      mail.kind === 'code' ? composeCodeMail(mail.code, mail.expires_at, now) : composeWarningMail(),
    )
    return 'applied'
  },
})
