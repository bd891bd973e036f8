import * as v from 'valibot'
import { eventRecord } from '../../shared/events/event-record.ts'
import type { Outcome } from '../../shared/events/outcome.ts'
import type { Intake } from '../../shared/events/intake.ts'

/**
 * Applies an event with the handler of its intake function, in this process and without a queue. Throws if
 * the handler rejects the event.
 */
export async function applyEvent(handler: Intake, detail: object): Promise<Outcome> {
  const parsed = v.parse(handler.detail, detail) as never
  const result = await handler.apply(parsed, eventRecord(handler.detailType, handler.key(parsed), parsed))
  return result.outcome
}
