import * as v from 'valibot'
import { intake } from '../../shared/events/intake.ts'
import { membersOf, UserId } from '../../shared/fields.ts'
import { composeCodeMail } from '../../shared/sign-in/send-mail.ts'
import { mailDelayed } from '../../shared/sign-in/ticket.ts'
import { codeMailFields, mailRejections, sendMail } from '../../shared/sign-in/send-mail.ts'
import { readSignInRecord } from '../../shared/sign-in/record.ts'

/**
 * Mails a sign-in code to a user with an authenticator, if the user's login ticket is still valid and unused.
 * If the event is delivered twice, the user gets two mails (see mail.requested).
 */
export const handler = intake({
  detailType: mailDelayed,
  detail: membersOf({ ...codeMailFields, user_id: UserId, ticket_hash: v.string() }),
  key: ({ mail_id }) => mail_id,
  rejections: mailRejections,
  async apply({ user_id, ticket_hash, ...mail }) {
    const record = await readSignInRecord(user_id)
    if (record?.tickets[ticket_hash] === undefined) return { outcome: 'unneeded' }
    await sendMail(mail, (now) => composeCodeMail(mail.code, mail.expires_at, now))
    return { outcome: 'applied' }
  },
})
