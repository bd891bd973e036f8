import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { clientOptions } from '../aws/client-options.ts'
import { requireEnv } from '../env.ts'

/** The `source` of events that this service sends. */
const source = 'account-service'

// This timeout is shorter than that of other clients, because a client waits for the answer meanwhile.
const bus = new EventBridgeClient({
  ...clientOptions(),
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
  maxAttempts: 2,
})

/** Puts an event on the service's own bus. Throws when the bus does not accept it. */
export async function publishEvent(detailType: string, detail: object): Promise<void> {
  const { Entries = [] } = await bus.send(
    new PutEventsCommand({
      Entries: [
        {
          EventBusName: requireEnv('EVENT_BUS_NAME'),
          Source: source,
          DetailType: detailType,
          Detail: JSON.stringify(detail),
        },
      ],
    }),
  )
  const code = Entries[0]?.ErrorCode
  if (code !== undefined) throw Object.assign(new Error('the bus refused an event'), { name: code })
}
