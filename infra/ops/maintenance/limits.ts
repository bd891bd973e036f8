import { defaultTimeoutSeconds, maxScheduleAgeSeconds } from '../../permissions.ts'
import { events } from '../../events.ts'
import { routes } from '../../routes.ts'
import { schedules, workers } from '../../workers-and-schedules.ts'
import type { PartName } from './parts.ts'

/**
 * After `answers` equal answers in a row, a maintenance switch counts as applied by every server of API
 * Gateway. `pauseMilliseconds` is the pause between two answers. AWS documents no time for a switch.
 */
export const probing = { answers: 10, pauseMilliseconds: 1_000 }

/** Maximum time that a command waits for AWS to apply a maintenance switch. */
export const maxSwitchMilliseconds = 300_000

/** The longest time, in milliseconds, that running calls may take to end after a part was stopped. */
export const drainMilliseconds = (part: PartName): number => 1_000 * Math.max(...limits[part])

const limits: Record<PartName, number[]> = {
  requests: routes.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.endpoint),
  events: [
    ...events.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.event),
    ...workers.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.worker),
  ],
  // EventBridge and then Lambda can each delay a run by this time.
  schedules: schedules
    .filter(({ onlyReads }) => !onlyReads)
    .map(
      ({ permissions }) =>
        2 * maxScheduleAgeSeconds + (permissions.timeout ?? defaultTimeoutSeconds.schedule),
    ),
}
