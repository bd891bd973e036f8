import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { setTimeout as wait } from 'node:timers/promises'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { requireEnv } from '../../../shared/env.ts'
import type { OutgoingEvent } from './read-event.ts'

/** An event with its mark, which its dead letter contains, so that a rejected event is found again. */
export interface MarkedEvent extends OutgoingEvent {
  mark: string
}

/** Makes the mark of an event from the id of a run and the line of its input. */
export const markOf = (run: string, line: number): string => `urn:event-put:${run}:${line}`

/** Returns the line that a mark names, or undefined for a mark of another run. */
export function lineOfMark(run: string, mark: string): number | undefined {
  const prefix = markOf(run, 0).slice(0, -1)
  return mark.startsWith(prefix) ? Number(mark.slice(prefix.length)) : undefined
}

/** The deployment's event bus. */
export interface EventBus {
  /** Puts an event on the bus. Resolves with the error code if it was not accepted. */
  put: (event: MarkedEvent) => Promise<string | undefined>
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
    put: (event) => putWithRetry(client, event),
    close: () => client.destroy(),
  }
}

async function putWithRetry(client: EventBridgeClient, event: MarkedEvent): Promise<string | undefined> {
  const Entries = [
    {
      EventBusName: requireEnv('EVENT_BUS_NAME'),
      Source: event.source,
      DetailType: event.detailType,
      Detail: event.detail,
      Resources: [event.mark],
    },
  ]
  for (let attempt = 1; ; attempt += 1) {
    const code = (await client.send(new PutEventsCommand({ Entries }))).Entries?.[0]?.ErrorCode
    if (!isTransient(code) || attempt === maxAttempts) return code
    await wait(Math.random() * 100 * 2 ** attempt)
  }
}

const isTransient = (code: string | undefined): boolean =>
  code === 'ThrottlingException' || code === 'InternalFailure' || code === 'InternalException'
