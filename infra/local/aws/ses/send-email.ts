import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { StackModel } from '../../model.ts'
import { AwsError } from '../wire/aws-error.ts'
import type { Call } from '../wire/operation.ts'
import type { Outbox } from './outbox.ts'

const Text = v.object({ Data: v.string(), Charset: v.optional(v.string()) })
const Addresses = v.optional(v.array(v.string()), [])
const SendEmailInput = v.object({
  FromEmailAddress: v.string(),
  FromEmailAddressIdentityArn: v.optional(v.string()),
  Destination: v.object({ ToAddresses: Addresses, CcAddresses: Addresses, BccAddresses: Addresses }),
  Content: v.object({
    Simple: v.object({ Subject: Text, Body: v.object({ Text: v.optional(Text), Html: v.optional(Text) }) }),
  }),
})

/** SendEmail with simple content: the mail goes to the outbox, once for every recipient. No identity needs to be verified. */
export function sendEmail(
  model: StackModel,
  outbox: Outbox,
  body: Buffer,
  call: Call,
): { MessageId: string } {
  const parsed = v.safeParse(SendEmailInput, parseJson(body))
  if (!parsed.success)
    throw new AwsError(
      'BadRequestException',
      'Only simple content with a sender and a destination is supported.',
    )
  const { Destination, Content } = parsed.output
  const recipients = [...Destination.ToAddresses, ...Destination.CcAddresses, ...Destination.BccAddresses]
  authorizeSender(model, call, parsed.output, recipients)
  if (recipients.length === 0 || recipients.length > 50)
    throw new AwsError('BadRequestException', 'There must be between 1 and 50 recipients.')
  const { Subject, Body } = Content.Simple
  const text = Body.Text?.Data ?? Body.Html?.Data
  if (text === undefined) throw new AwsError('BadRequestException', 'Missing final body.')
  for (const recipient of recipients)
    outbox.add({ to: readAddress(recipient), subject: Subject.Data, text, sent_at: Date.now() })
  return { MessageId: randomUUID() }
}

/**
 * On AWS the resource is the verified identity, which is the sender's address or its domain; here neither is verified, so
 * a grant on either will do.
 */
function authorizeSender(
  model: StackModel,
  call: Call,
  input: v.InferOutput<typeof SendEmailInput>,
  recipients: string[],
): void {
  const address = readAddress(input.FromEmailAddress)
  const domain = address.slice(address.lastIndexOf('@') + 1)
  const arnOf = (identity: string) => `arn:aws:ses:${model.region}:${model.accountId}:identity/${identity}`
  const displayName = /^\s*"?([^"<]*?)"?\s*</.exec(input.FromEmailAddress)?.[1]
  const request = {
    action: 'ses:SendEmail',
    context: {
      'ses:FromAddress': address,
      'ses:FromDisplayName': displayName,
      'ses:Recipients': recipients.map(readAddress),
    },
  }
  if (input.FromEmailAddressIdentityArn !== undefined)
    return call.authorize({ ...request, resource: input.FromEmailAddressIdentityArn })
  const denials = [domain, address].flatMap((identity) => {
    try {
      call.authorize({ ...request, resource: arnOf(identity) })
      return []
    } catch (error) {
      return [error as Error]
    }
  })
  const explicit = denials.find(({ message }) => message.includes('with an explicit deny'))
  if (explicit !== undefined) throw explicit
  if (denials.length === 2) throw denials[1] as Error
}

/** The bare address of `Name <address>`. */
function readAddress(mailbox: string): string {
  return (/<([^>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox).trim()
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    // The parser's own words would quote the mail.
    throw new AwsError('BadRequestException', 'The request body is not JSON.')
  }
}
