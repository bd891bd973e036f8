import { defaultTimeoutSeconds, maxScheduleAgeSeconds } from '../../permissions.ts'
import { events } from '../../events.ts'
import { routes } from '../../routes.ts'
import { schedules, workers } from '../../workers-and-schedules.ts'
import type { PartName } from './parts.ts'

/**
 * The answers in a row, and the pause between them, by which the command sees that API Gateway has applied a
 * switch everywhere. AWS names no time for that.
 */
export const probing = { answers: 10, pauseMilliseconds: 1_000 }

/** Longest time that AWS may take to carry out a switch; the command gives up after it. */
export const maxSwitchMilliseconds = 300_000

/** Milliseconds after a part was stopped by which every call that had begun has ended. */
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
