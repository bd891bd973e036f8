import { SendEmailCommand, type SESv2Client } from '@aws-sdk/client-sesv2'
import { expect, test } from 'vitest'
import { arnOf, functionModel, stackModel, startStack } from '../stack.ts'

const send = (ses: SESv2Client) =>
  ses.send(
    new SendEmailCommand({
      FromEmailAddress: 'Rewards <no-reply@example.com>',
      Destination: { ToAddresses: ['a@example.com'] },
      Content: { Simple: { Subject: { Data: 'Hello' }, Body: { Text: { Data: 'Your code is 123456' } } } },
    }),
  )

test('SendEmail is denied without permission for the address or the domain of the sender', async () => {
  const grant = (identity: string, Condition = {}) => [
    {
      Effect: 'Allow' as const,
      Action: 'ses:SendEmail',
      Resource: arnOf('ses', `identity/${identity}`),
      Condition,
    },
  ]
  const functions = [
    functionModel('by-domain', grant('example.com')),
    functionModel('by-address', grant('no-reply@example.com')),
    functionModel('other-domain', grant('example.org')),
    functionModel('other-from', grant('*', { StringEquals: { 'ses:FromAddress': 'boss@example.com' } })),
  ]
  const { as, endpoint } = await startStack(stackModel({ functions }))
  for (const name of ['by-domain', 'by-address']) await send(as(name).ses)
  for (const name of ['other-domain', 'other-from'])
    await expect(send(as(name).ses), name).rejects.toMatchObject({
      name: 'AccessDeniedException',
      $metadata: { httpStatusCode: 403 },
    })
  expect(endpoint.outbox()).toHaveLength(2)
})
