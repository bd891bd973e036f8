import { ownSource } from '../shared/env.ts'
import { outcomeTypes } from '../shared/events/outcome.ts'
import type { Event } from './events.ts'

/** Name, without the stage's prefix, of the rule for events that no other rule matches. */
export const unmatchedRuleName = 'unmatched'

/** Name, without the stage's prefix, of the queue for events that no other rule matches. */
export const unmatchedQueueName = 'unmatched-dead-letters'

/** Name, without the stage's prefix, of the rule that passes outcomes on to a listener. */
export const listenerRuleName = (listener: string): string => `listener-${listener}`

type Row = Pick<Event, 'detailType' | 'senders'>

/** The outcomes that the service tells. No function takes them; from any other source they are unmatched. */
const told: Row[] = outcomeTypes.map((detailType) => ({ detailType, senders: [ownSource] }))

/** The event pattern of all outcomes that the service tells. */
export const outcomesPattern = { source: [ownSource], detailType: [...outcomeTypes] }

/**
 * Returns the sources from which a stage's bus accepts an event; undefined means every source. The local
 * stack's bus accepts an event from every source, unless the service itself sends events of this type.
 */
export const acceptedSources = (stage: string, { senders }: Row): readonly string[] | undefined =>
  stage === 'local' && !senders.includes(ownSource) ? undefined : senders

/** The event pattern of the rule that routes an event to its queue. */
export function takenPattern(stage: string, event: Row): { source?: string[]; detailType: string[] } {
  const source = acceptedSources(stage, event)
  return { ...(source === undefined ? {} : { source: [...source] }), detailType: [event.detailType] }
}

/**
 * The event pattern of the archive: all events except those marked `momentary`, such as mails, and outcomes.
 */
export const archivedPattern = (events: readonly Event[]): { detailType: unknown[] } => ({
  detailType: [
    {
      'anything-but': [...events.filter(({ momentary }) => momentary), ...told].map(
        ({ detailType }) => detailType,
      ),
    },
  ],
})

/** The event pattern of events that no other rule matches: unknown events, and events of a wrong source. */
export function untakenPattern(stage: string, events: readonly Row[]): { $or: object[] } {
  const known = [...events, ...told]
  const bySources = Map.groupBy(known, (event) => acceptedSources(stage, event)?.join())
  bySources.delete(undefined)
  return {
    $or: [
      { 'detail-type': [{ 'anything-but': known.map(({ detailType }) => detailType) }] },
      ...[...bySources.values()].map((rows) => ({
        'detail-type': rows.map(({ detailType }) => detailType),
        source: [{ 'anything-but': acceptedSources(stage, rows[0] as Row) }],
      })),
    ],
  }
}
