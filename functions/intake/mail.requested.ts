import * as v from 'valibot'
import { intake } from '../../shared/events/intake.ts'
import { membersOf } from '../../shared/fields.ts'
import { composeCodeMail, composeWarningMail } from '../../shared/sign-in/send-mail.ts'
import { mailRequested } from '../../shared/sign-in/ticket.ts'
import { warningKinds, warningLifetimeMilliseconds } from '../../shared/sign-in/warn-owner.ts'
import { codeMailFields, mailFields, mailRejections, sendMail } from '../../shared/sign-in/send-mail.ts'

/**
 * Mails a user a sign-in code, or a warning that somebody else knows the password. Sends no expired mail.
 * Does not record the event, so if it is delivered twice, the user gets two mails. With a record, a failure
 * between recording and sending would lose the mail.
 */
export const handler = intake({
  detailType: mailRequested,
  detail: v.variant('kind', [
    membersOf({ ...codeMailFields, kind: v.literal('code') }),
    membersOf({ ...mailFields(() => warningLifetimeMilliseconds), kind: v.picklist(warningKinds) }),
  ]),
  key: ({ mail_id }) => mail_id,
  rejections: mailRejections,
  async apply(mail) {
    await sendMail(mail, (now) =>
      mail.kind === 'code' ? composeCodeMail(mail.code, mail.expires_at, now) : composeWarningMail(mail.kind),
    )
    return { outcome: 'applied' }
  },
})
