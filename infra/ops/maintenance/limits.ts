import { defaultTimeoutSeconds, maxScheduleAgeSeconds } from '../../permissions.ts'
import { events } from '../../events.ts'
import { routes } from '../../routes.ts'
import { schedules, workers } from '../../workers-and-schedules.ts'
import type { PartName } from './parts.ts'

/**
 * How the command finds out that API Gateway shows a switch everywhere, for which AWS names no time: this
 * many equal answers in a row, this far apart.
 */
export const probing = { answers: 10, pauseMilliseconds: 1_000 }

/** Longest time that AWS may take to carry out a switch; the command gives up after it. */
export const maxSwitchMilliseconds = 300_000

/** How long after a part was stopped the calls that had begun have surely ended, in milliseconds. */
export const drainMilliseconds = (part: PartName): number => 1_000 * Math.max(...limits[part])

const limits: Record<PartName, number[]> = {
  requests: routes.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.endpoint),
  events: [
    ...events.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.event),
    ...workers.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.worker),
  ],
  // EventBridge and then Lambda may each hold a run back for this time.
  schedules: schedules
    .filter(({ onlyReads }) => !onlyReads)
    .map(
      ({ permissions }) =>
        2 * maxScheduleAgeSeconds + (permissions.timeout ?? defaultTimeoutSeconds.schedule),
    ),
}
