import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge'
import { events } from '../../infra/events.ts'
import { clientOptions } from '../../shared/aws/client-options.ts'
import { requireEnv } from '../../shared/env.ts'

/** Maximum number of events in one PutEvents call. */
const entriesAtOnce = 10

/** Puts events of one kind on the bus of the shared stack, as a real sender of such events would. */
export async function putEvents(
  detailType: string,
  details: readonly object[],
  source: string = events.find((event) => event.detailType === detailType)?.senders[0] ?? 'business',
): Promise<void> {
  // These timeouts are longer than in `clientOptions`, because tests can slow down the bus.
  const timeouts = { connectionTimeout: 10_000, requestTimeout: 30_000, throwOnRequestTimeout: true }
  const bus = new EventBridgeClient({ ...clientOptions(), requestHandler: timeouts })
  const entries = details.map((detail) => ({
    EventBusName: requireEnv('EVENT_BUS_NAME'),
    Source: source,
    DetailType: detailType,
    Detail: JSON.stringify(detail),
  }))
  for (let at = 0; at < entries.length; at += entriesAtOnce)
    await putAll(bus, entries.slice(at, at + entriesAtOnce))
}

/** Puts entries on the bus, and repeats throttled entries, as a sender must (EventBridge: PutEvents). */
async function putAll(bus: EventBridgeClient, Entries: PutEventsRequestEntry[]): Promise<void> {
  const { Entries: results = [] } = await bus.send(new PutEventsCommand({ Entries }))
  const codes = new Set(results.flatMap(({ ErrorCode = [] }) => ErrorCode))
  codes.delete('ThrottlingException')
  if (codes.size > 0) throw new Error(`the bus did not take an event: ${[...codes].join(', ')}`)
  const throttled = Entries.filter((_, i) => results[i]?.ErrorCode !== undefined)
  if (throttled.length > 0) await putAll(bus, throttled)
}
