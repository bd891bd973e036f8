import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { ownSource, requireEnv } from '../../../shared/env.ts'
import { readOutbox } from '../../support/local-stack.ts'
import { newUserId } from '../../support/sign-in.ts'

const mail = {
  mail_id: randomUUID(),
  kind: 'code',
  to: `mail-${newUserId()}@example.com`,
  code: '012345',
  expires_at: Date.now() + 600_000,
}

test('nobody but the service can put a mail.requested on the bus with the service’s own source', async () => {
  const credentials = { accessKeyId: 'anybody', secretAccessKey: 'any' }
  const put = (Source: string) =>
    new EventBridgeClient({ ...clientOptions(), credentials }).send(
      new PutEventsCommand({
        Entries: [
          {
            EventBusName: requireEnv('EVENT_BUS_NAME'),
            Source,
            DetailType: 'mail.requested',
            Detail: JSON.stringify(mail),
          },
        ],
      }),
    )
  await expect(put(ownSource)).rejects.toMatchObject({
    name: 'AccessDeniedException',
    message: expect.stringContaining('with an explicit deny in a resource-based policy') as string,
  })
  // The bus accepts the event with another source, but no rule matches it, so no mail is sent.
  expect(await put('business')).toMatchObject({ FailedEntryCount: 0 })
  expect(await readOutbox(mail.to)).toEqual([])
})
