import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { clientOptions } from '../aws/client-options.ts'
import { requireEnv } from '../env.ts'

/** Name of this service as a sender of events. */
const source = 'account-service'

// Events are put while somebody waits for an answer, which must not wait for long.
const bus = new EventBridgeClient({
  ...clientOptions(),
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
  maxAttempts: 2,
})

/** Puts an event on the service's own bus; throws when the bus did not take it. */
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
