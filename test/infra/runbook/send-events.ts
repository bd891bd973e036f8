import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Procedure } from './follow.ts'

/** An event as a line of a file for `event put`. */
export interface SentEvent {
  'detail-type': string
  detail: object
}

/** Sends events from a file, as the procedure says, and expects that all of them have taken effect. */
export async function sendEvents({ ops }: Procedure, events: SentEvent[], directory: string): Promise<void> {
  const file = join(directory, randomUUID())
  writeFileSync(file, events.map((event) => JSON.stringify(event)).join('\n'))
  expect((await ops('event put FILE', { FILE: file })).code).toBe(0)
}
