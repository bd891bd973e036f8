import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { type OutcomeDetail, outcomeTypes } from '../../shared/events/outcome.ts'

/** The outcomes that functions in this process have told, oldest first. Their bus is this list. */
export const toldOutcomes: OutcomeDetail[] = []

const isOutcome = (detailType: string | undefined): boolean =>
  outcomeTypes.some((outcomeType) => outcomeType === detailType)

interface Bus {
  send: (this: unknown, command: unknown, ...rest: unknown[]) => unknown
}
const bus = EventBridgeClient.prototype as Bus
const client = Object.getPrototypeOf(bus) as Bus

// Tests of events in this process have no bus. All but outcomes is sent as by every AWS client, which a test
// may have tampered with (tamper-calls.ts).
bus.send = function (command, ...rest) {
  const entries = command instanceof PutEventsCommand ? (command.input.Entries ?? []) : []
  if (!isOutcome(entries[0]?.DetailType)) return client.send.call(this, command, ...rest)
  toldOutcomes.push(...entries.map(({ Detail = '' }) => JSON.parse(Detail) as OutcomeDetail))
  return Promise.resolve({ FailedEntryCount: 0, Entries: entries.map(() => ({ EventId: 'told' })) })
}
