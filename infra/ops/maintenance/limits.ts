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

const day = 86_400_000

/** When calls that have begun before a part was stopped have surely ended, in milliseconds from `now`. */
export function drainMilliseconds(part: PartName, now: number): number {
  return 1_000 * Math.max(...limits[part](now))
}

const limits: Record<PartName, (now: number) => number[]> = {
  requests: () => routes.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.endpoint),
  events: () => [
    ...events.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.event),
    ...workers.map(({ permissions }) => permissions.timeout ?? defaultTimeoutSeconds.worker),
  ],
  schedules: (now) =>
    schedules.map(({ rate, permissions }) => {
      // EventBridge and then Lambda may each hold a run back for this time.
      const seconds = 2 * maxScheduleAgeSeconds + (permissions.timeout ?? defaultTimeoutSeconds.schedule)
      return Math.max(0, seconds - secondsSinceRun(rate, now))
    }),
}

/** Time since the last run of a daily schedule; 0 for any other schedule, which may have just run. */
function secondsSinceRun(rate: string, now: number): number {
  const [, minute, hour] = /^cron\((\d+) (\d+) \* \* \? \*\)$/.exec(rate) ?? []
  if (minute === undefined || hour === undefined) return 0
  const due = (Number(hour) * 60 + Number(minute)) * 60_000
  return Math.floor(((((now - due) % day) + day) % day) / 1_000)
}
