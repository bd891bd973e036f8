import { defaultTimeoutSeconds, maxScheduleAgeSeconds } from '../../permissions.ts'
import { events } from '../../events.ts'
import { routes } from '../../routes.ts'
import { schedules, workers } from '../../workers-and-schedules.ts'
import type { PartName } from './parts.ts'

/**
 * A change in API Gateway counts as complete when this number of requests in a row show it. AWS does not
 * document how long a change takes.
 */
export const probing = { answers: 10, pauseMilliseconds: 1_000 }

/** Maximum time that a command waits until AWS has stopped or started parts of the service. */
export const maxSwitchMilliseconds = 300_000

/** How long a part's calls can still run after the part was stopped, in milliseconds. */
export const drainMilliseconds = (part: PartName): number => 1_000 * Math.max(...limits[part])

const limits: Record<PartName, number[]> = {
  requests: routes.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.endpoint),
  events: [
    ...events.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.event),
    ...workers.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.worker),
  ],
  // EventBridge can delay a run by `maxScheduleAgeSeconds`, and Lambda then by as much again.
  schedules: schedules
    .filter(({ onlyReads }) => !onlyReads)
    .map(
      ({ permissions }) =>
        2 * maxScheduleAgeSeconds + (permissions.timeout ?? defaultTimeoutSeconds.schedule),
    ),
}
