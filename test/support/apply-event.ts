import * as v from 'valibot'
import type { Outcome } from '../../shared/events/outcome.ts'
import { type Intake, recordOf } from '../../shared/events/intake.ts'

/**
 * Applies an event with the handler of its intake function, in this process and without a queue. Throws if
 * the handler rejects the event.
 */
export async function applyEvent(handler: Intake, detail: object): Promise<Outcome> {
  const parsed = v.parse(handler.detail, detail) as never
  const result = await handler.apply(parsed, recordOf(handler, parsed))
  return result.outcome
}
