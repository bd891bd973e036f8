import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { StackModel } from '../../model.ts'
import type { AccessRequest } from '../iam/authorize.ts'
import type { Store } from '../storage/store.ts'
import { AwsError, jsonAnswer, parseJson } from '../wire/http-messages.ts'
import type { Service } from '../wire/operation.ts'

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
const maxRecipients = 50

/** Opens the outbox of mails, which keeps the newest 10,000. */
export function openOutbox({ database }: Store) {
  database.exec(`
    CREATE TABLE IF NOT EXISTS ses_outbox
      (id INTEGER PRIMARY KEY AUTOINCREMENT, recipient TEXT NOT NULL, subject TEXT NOT NULL,
       text TEXT NOT NULL, sent_at INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS ses_outbox_recipient ON ses_outbox (recipient COLLATE NOCASE, id)`)
  const insert = database.prepare(
    'INSERT INTO ses_outbox (recipient, subject, text, sent_at) VALUES (:to, :subject, :text, :sent_at)',
  )
  const trim = database.prepare('DELETE FROM ses_outbox WHERE id <= ?')
  const select = 'SELECT recipient AS "to", subject, text, sent_at FROM ses_outbox'
  const all = database.prepare(`${select} ORDER BY id DESC`)
  const toOne = database.prepare(`${select} WHERE recipient = ? COLLATE NOCASE ORDER BY id DESC`)
  return {
    add(message: OutboxMessage): void {
      const { lastInsertRowid } = insert.run({ ...message })
      trim.run(Number(lastInsertRowid) - maxMessages)
    },
    /** Lists the mails in the outbox, newest first: all, or only the mails to one address (in any case). */
    list(to?: string): OutboxMessage[] {
      const rows = to === undefined ? all.all() : toOne.all(to)
      return rows.map((row) => ({ ...row }) as unknown as OutboxMessage)
    },
  }
}

/** Schema of a mail address; reads the bare address from `Name <address>`. */
const Address = v.pipe(
  v.string(),
  v.transform((mailbox) => (/<([^>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox).trim()),
)
const Addresses = v.optional(v.array(Address), [])
const Text = v.object({ Data: v.string() })
const SendEmailInput = v.object({
  FromEmailAddress: Address,
  Destination: v.pipe(
    v.object({ ToAddresses: Addresses, CcAddresses: Addresses, BccAddresses: Addresses }),
    v.transform((lists) => [...lists.ToAddresses, ...lists.CcAddresses, ...lists.BccAddresses]),
  ),
  Content: v.object({
    Simple: v.object({ Subject: Text, Body: v.object({ Text: v.optional(Text), Html: v.optional(Text) }) }),
  }),
})
type SendEmailInput = v.InferOutput<typeof SendEmailInput>

/** The SES operation SendEmail with simple content: puts a mail for each recipient into the outbox. */
export function sesService(model: StackModel, outbox: Outbox): Service {
  return ({ method, path, body }) => {
    if (method !== 'POST' || path !== '/v2/email/outbound-emails') return undefined
    const parsed = v.safeParse(SendEmailInput, parseJson(body, 'BadRequestException'))
    if (!parsed.success) throw badRequest('Only simple content with a sender and a destination is supported.')
    return {
      access: () => [senderAccess(model, parsed.output)],
      run: () => jsonAnswer('application/json', sendEmail(outbox, parsed.output)),
    }
  }
}

// On AWS the IAM resource is the verified identity: the sender's address or its domain. Nothing is verified
// here, so permission for either is enough.
function senderAccess({ region, accountId }: StackModel, input: SendEmailInput): AccessRequest {
  const { FromEmailAddress: sender, Destination } = input
  const identities = [sender.slice(sender.lastIndexOf('@') + 1), sender]
  return {
    action: 'ses:SendEmail',
    resource: identities.map((identity) => `arn:aws:ses:${region}:${accountId}:identity/${identity}`),
    context: { 'ses:FromAddress': sender, 'ses:Recipients': Destination },
  }
}

function sendEmail(outbox: Outbox, { Destination, Content }: SendEmailInput) {
  if (Destination.length === 0 || Destination.length > maxRecipients)
    throw badRequest(`There must be between 1 and ${maxRecipients} recipients.`)
  const { Subject, Body } = Content.Simple
  const text = Body.Text?.Data ?? Body.Html?.Data
  if (text === undefined) throw badRequest('Missing final body.')
  for (const to of Destination) outbox.add({ to, subject: Subject.Data, text, sent_at: Date.now() })
  return { MessageId: randomUUID() }
}

function badRequest(message: string): AwsError {
  return new AwsError('BadRequestException', message)
}

const accountPath = '/v2/email/account'
const identityPath = /^\/v2\/email\/identities\/([^/]+)$/

/** The SES operations GetAccount and GetEmailIdentity of an account that may send from any address. */
export function sesAccountService({ region, accountId }: StackModel): Service {
  return ({ method, path }) => {
    if (method !== 'GET') return undefined
    if (path === accountPath)
      return {
        access: () => [{ action: 'ses:GetAccount', resource: '*' }],
        run: () =>
          jsonAnswer('application/json', {
            ProductionAccessEnabled: true,
            SendingEnabled: true,
            SendQuota: { Max24HourSend: -1, MaxSendRate: -1, SentLast24Hours: 0 },
          }),
      }
    const [, identity] = identityPath.exec(path) ?? []
    if (identity === undefined) return undefined
    const name = decodeURIComponent(identity)
    return {
      access: () => [
        {
          action: 'ses:GetEmailIdentity',
          resource: `arn:aws:ses:${region}:${accountId}:identity/${name}`,
        },
      ],
      run: () =>
        jsonAnswer('application/json', {
          IdentityType: name.includes('@') ? 'EMAIL_ADDRESS' : 'DOMAIN',
          VerifiedForSendingStatus: true,
        }),
    }
  }
}
