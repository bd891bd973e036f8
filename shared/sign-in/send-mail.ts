import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { clientOptions } from '../aws/client-options.ts'
import { settings } from '../settings.ts'

const ses = new SESv2Client(clientOptions())

/** Sends a plain text mail from the deployment's sender address. */
export async function sendMail(to: string, subject: string, text: string): Promise<void> {
  const content = (data: string) => ({ Data: data, Charset: 'UTF-8' })
  await ses.send(
    new SendEmailCommand({
      FromEmailAddress: settings().mailFrom,
      Destination: { ToAddresses: [to] },
      Content: { Simple: { Subject: content(subject), Body: { Text: content(text) } } },
    }),
  )
}
