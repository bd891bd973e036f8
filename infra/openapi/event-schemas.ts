import type { Intake } from '../../shared/events/intake.ts'
import { events } from '../events.ts'
import { inputSchema, type JsonSchema } from './schemas.ts'

/** Loads the intake handlers of all events, in the order of infra/events.ts. */
export const loadIntakes = (): Promise<Intake[]> =>
  Promise.all(
    events.map(async ({ detailType }) => {
      const file = new URL(`../../functions/intake/${detailType}.ts`, import.meta.url).href
      return ((await import(file)) as { handler: Intake }).handler
    }),
  )

/** The JSON Schema of each event's `detail`, keyed by detail-type. */
export async function eventSchemas(): Promise<Record<string, JsonSchema>> {
  const intakes = await loadIntakes()
  return Object.fromEntries(intakes.map(({ detailType, detail }) => [detailType, inputSchema(detail)]))
}
