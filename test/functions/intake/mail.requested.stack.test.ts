import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { expect, test } from 'vitest'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { ownSource, requireEnv } from '../../../shared/env.ts'

test('only the service can send an event mail.requested that names the service as its source', async () => {
  const credentials = { accessKeyId: 'anybody', secretAccessKey: 'any' }
  const put = (Source: string) => {
    const entry = { EventBusName: requireEnv('EVENT_BUS_NAME'), Source, DetailType: 'mail.requested' }
    const command = new PutEventsCommand({ Entries: [{ ...entry, Detail: '{}' }] })
    return new EventBridgeClient({ ...clientOptions(), credentials }).send(command)
  }
  await expect(put(ownSource)).rejects.toMatchObject({
    name: 'AccessDeniedException',
    message: expect.stringContaining('with an explicit deny in a resource-based policy') as string,
  })
  // The bus accepts a mail.requested from another source, but it causes no mail (see dlq.stack.test.ts).
  expect(await put('business')).toMatchObject({ FailedEntryCount: 0 })
})
