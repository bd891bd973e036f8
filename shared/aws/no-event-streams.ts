/**
 * Stands in for `@smithy/core/event-streams` inside a bundle: of the operations that functions call none streams events,
 * and what would read them is a tenth of a bundle. Were one called, this says so.
 */
export function EventStreamSerde(): never {
  throw new Error('an operation streams events: bundle @smithy/core/event-streams for it')
}
