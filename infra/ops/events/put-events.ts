import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge'
import { setTimeout as wait } from 'node:timers/promises'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { requireEnv } from '../../../shared/env.ts'
import type { OutgoingEvent } from './parse-event.ts'

/** An event with the mark by which it is found again among the dead letters. */
export interface MarkedEvent extends OutgoingEvent {
  mark: string
}

/** Most events of one PutEvents request, and most bytes: AWS's own limits, the second with room for envelopes. */
export const mostEntries = 10
export const mostBytes = 240_000

/** How often an event is put that the bus had no room for. */
const attempts = 8

/** Puts events on the deployment's bus. */
export interface Bus {
  /** Puts up to ten events; resolves with what was wrong with each, undefined for those that were taken. */
  put: (events: MarkedEvent[]) => Promise<(string | undefined)[]>
  close: () => void
}

/** Opens the bus of the deployment that this process points at. */
export function openBus(): Bus {
  const client = new EventBridgeClient({
    ...clientOptions(),
    // Nobody waits for an answer here: patience is better than a run that has to be started again.
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 30_000 },
    maxAttempts: 8,
  })
  return {
    put: (events) => putPatiently(client, events),
    close: () => client.destroy(),
  }
}

async function putPatiently(
  client: EventBridgeClient,
  events: MarkedEvent[],
): Promise<(string | undefined)[]> {
  const problems = new Map<MarkedEvent, string | undefined>()
  let waiting = events
  for (let attempt = 1; waiting.length > 0; attempt += 1) {
    const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: waiting.map(toEntry) }))
    waiting.forEach((event, index) => problems.set(event, Entries[index]?.ErrorCode))
    waiting = waiting.filter((event) => isPassing(problems.get(event)))
    if (attempt === attempts) break
    if (waiting.length > 0) await wait(Math.random() * 100 * 2 ** attempt)
  }
  return events.map((event) => problems.get(event))
}

const toEntry = ({ detailType, source, detail, mark }: MarkedEvent): PutEventsRequestEntry => ({
  EventBusName: requireEnv('EVENT_BUS_NAME'),
  Source: source,
  DetailType: detailType,
  Detail: detail,
  Resources: [mark],
})

const isPassing = (code: string | undefined): boolean =>
  code === 'ThrottlingException' || code === 'InternalFailure' || code === 'InternalException'
