import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge'
import { setTimeout as wait } from 'node:timers/promises'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { requireEnv } from '../../../shared/env.ts'
import type { OutgoingEvent } from './batches.ts'

/** The deployment's event bus. */
export interface EventBus {
  /**
   * Puts up to ten events on the bus. Resolves with an error code for each; undefined means that it was
   * accepted.
   */
  put: (events: OutgoingEvent[]) => Promise<(string | undefined)[]>
  close: () => void
}

/** Maximum number of attempts to put an event while the bus cannot accept it. */
const maxAttempts = 8

/** Opens the event bus that the environment variables name. */
export function openBus(): EventBus {
  const client = new EventBridgeClient({
    ...clientOptions(),
    // The timeouts are longer than in functions: no caller waits here, and a failure means starting the run
    // again.
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 30_000 },
    maxAttempts,
  })
  return {
    put: (events) => putWithRetry(client, events),
    close: () => client.destroy(),
  }
}

async function putWithRetry(
  client: EventBridgeClient,
  events: OutgoingEvent[],
): Promise<(string | undefined)[]> {
  const errorCodes = new Map<OutgoingEvent, string | undefined>()
  let pending = events
  for (let attempt = 1; pending.length > 0; attempt += 1) {
    const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: pending.map(toEntry) }))
    pending.forEach((event, index) => errorCodes.set(event, Entries[index]?.ErrorCode))
    pending = pending.filter((event) => isTransient(errorCodes.get(event)))
    if (attempt === maxAttempts) break
    if (pending.length > 0) await wait(Math.random() * 100 * 2 ** attempt)
  }
  return events.map((event) => errorCodes.get(event))
}

const toEntry = ({ detailType, source, detail, mark }: OutgoingEvent): PutEventsRequestEntry => ({
  EventBusName: requireEnv('EVENT_BUS_NAME'),
  Source: source,
  DetailType: detailType,
  Detail: detail,
  Resources: [mark],
})

const isTransient = (code: string | undefined): boolean =>
  code === 'ThrottlingException' || code === 'InternalFailure' || code === 'InternalException'
