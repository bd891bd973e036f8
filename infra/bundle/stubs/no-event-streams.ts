/**
 * Replaces `@smithy/core/event-streams` in a bundle, of which it would be a tenth. No operation that a
 * function calls uses event streams; if one does, this throws.
 */
export function EventStreamSerde(): never {
  throw new Error('an operation streams events: bundle @smithy/core/event-streams for it')
}
