import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { StackModel } from '../../model.ts'
import type { Store } from '../storage/store.ts'
import { defineOperation, restService, type Service } from '../wire/operation.ts'
import { normalizeEmail } from '../../../../shared/users/normalize-email.ts'

/** A mail that SES would have sent. */
export interface OutboxMessage {
  to: string
  subject: string
  text: string
  /** When the mail was sent, epoch milliseconds. */
  sent_at: number
}

/** The outbox: mails are stored here instead of being sent. */
export type Outbox = ReturnType<typeof openOutbox>

const maxMessages = 10_000

/** Opens the outbox of mails, which keeps the newest 10,000. */
export function openOutbox({ database }: Store) {
  database.exec(`
    CREATE TABLE IF NOT EXISTS ses_outbox
      (id INTEGER PRIMARY KEY AUTOINCREMENT, recipient TEXT NOT NULL, subject TEXT NOT NULL,
       text TEXT NOT NULL, sent_at INTEGER NOT NULL)`)
  const insert = database.prepare(
    'INSERT INTO ses_outbox (recipient, subject, text, sent_at) VALUES (:to, :subject, :text, :sent_at)',
  )
  const trim = database.prepare('DELETE FROM ses_outbox WHERE id <= ?')
  const all = database.prepare(
    'SELECT recipient AS "to", subject, text, sent_at FROM ses_outbox ORDER BY id DESC',
  )
  return {
    add(message: OutboxMessage): void {
      const { lastInsertRowid } = insert.run({ ...message })
      trim.run(Number(lastInsertRowid) - maxMessages)
    },
    /** Lists all mails, newest first. With `to`, lists only mails to that address, in any spelling. */
    list(to?: string): OutboxMessage[] {
      const mails = all.all().map((row) => ({ ...row }) as unknown as OutboxMessage)
      return mails.filter((mail) => to === undefined || normalizeEmail(mail.to) === normalizeEmail(to))
    },
  }
}

/** Schema of a mail address; reads the bare address from `Name <address>`. */
const Address = v.pipe(
  v.string(),
  v.transform((mailbox) => (/<([^>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox).trim()),
)
const Text = v.object({ Data: v.string() })
const SendEmailInput = v.object({
  FromEmailAddress: Address,
  Destination: v.strictObject({ ToAddresses: v.pipe(v.array(Address), v.minLength(1), v.maxLength(50)) }),
  Content: v.object({ Simple: v.object({ Subject: Text, Body: v.object({ Text }) }) }),
})

/**
 * The SES operations SendEmail, GetAccount and GetEmailIdentity. SendEmail puts one plain-text mail per
 * recipient into the outbox. Every sender's address counts as verified.
 */
export function sesService({ region, accountId }: StackModel, outbox: Outbox): Service {
  const arnOf = (identity: string) => `arn:aws:ses:${region}:${accountId}:identity/${identity}`
  const send = defineOperation(
    SendEmailInput,
    // AWS checks the permission for the verified identity. The local stack verifies none, so a permission for
    // the address or for its domain is enough.
    ({ FromEmailAddress: sender, Destination }) => ({
      action: 'ses:SendEmail',
      resource: [sender.slice(sender.lastIndexOf('@') + 1), sender].map(arnOf),
      context: { 'ses:FromAddress': sender, 'ses:Recipients': Destination.ToAddresses },
    }),
    ({ Destination, Content: { Simple } }) => {
      const mail = { subject: Simple.Subject.Data, text: Simple.Body.Text.Data, sent_at: Date.now() }
      for (const to of Destination.ToAddresses) outbox.add({ to, ...mail })
      return { MessageId: randomUUID() }
    },
  )
  const describeAccount = defineOperation(
    v.object({}),
    () => ({ action: 'ses:GetAccount', resource: '*' }),
    () => ({
      ProductionAccessEnabled: true,
      SendingEnabled: true,
      SendQuota: { Max24HourSend: -1, MaxSendRate: -1, SentLast24Hours: 0 },
    }),
  )
  const describeIdentity = (identity: string) =>
    defineOperation(
      v.object({}),
      () => ({ action: 'ses:GetEmailIdentity', resource: arnOf(identity) }),
      () => ({
        IdentityType: identity.includes('@') ? 'EMAIL_ADDRESS' : 'DOMAIN',
        VerifiedForSendingStatus: true,
      }),
    )
  return restService([
    ['POST', /^\/v2\/email\/outbound-emails$/, () => send],
    ['GET', /^\/v2\/email\/account$/, () => describeAccount],
    ['GET', /^\/v2\/email\/identities\/([^/]+)$/, describeIdentity],
  ])
}
