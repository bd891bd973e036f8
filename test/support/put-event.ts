import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { requireEnv } from '../../shared/env.ts'

/** Maximum number of events in one PutEvents call. */
const entriesAtOnce = 10

/** Puts events of one kind on the bus of the shared stack, as the business server would. */
export async function putEvents(detailType: string, details: readonly object[]): Promise<void> {
  const bus = new EventBridgeClient(clientOptions())
  for (let at = 0; at < details.length; at += entriesAtOnce) {
    const { FailedEntryCount } = await bus.send(
      new PutEventsCommand({
        Entries: details.slice(at, at + entriesAtOnce).map((detail) => ({
          EventBusName: requireEnv('EVENT_BUS_NAME'),
          Source: 'business-server',
          DetailType: detailType,
          Detail: JSON.stringify(detail),
        })),
      }),
    )
    if (FailedEntryCount !== 0) throw new Error('the bus did not take an event')
  }
}
