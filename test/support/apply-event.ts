import * as v from 'valibot'
import { eventRecord, type Outcome } from '../../shared/events/event-record.ts'
import type { Intake } from '../../shared/events/intake.ts'

/**
 * Applies an event in this process as its intake function does, but without a queue. Throws when the function
 * rejects the event.
 */
export async function applyEvent(handler: Intake, detail: object): Promise<Outcome> {
  const parsed = v.parse(handler.detail, detail) as never
  return handler.apply(parsed, eventRecord(handler.detailType, handler.key(parsed), detail))
}
