import { join } from 'node:path'
import type { Intake } from '../../shared/events/intake.ts'
import { events } from '../events.ts'

/** Path of the source file of an event's handler. */
export const intakeFile = (detailType: string): string =>
  join(import.meta.dirname, '../../functions/intake', `${detailType}.ts`)

/** Loads the handlers of all events, in the order of infra/events.ts. */
export async function loadIntakes(): Promise<Intake[]> {
  const files = events.map(({ detailType }) => intakeFile(detailType))
  const modules = await Promise.all(files.map((file) => import(file) as Promise<{ handler: Intake }>))
  return modules.map(({ handler }) => handler)
}
