import { Cron } from 'croner'

/** A running schedule. */
export interface Schedule {
  stop(): void
}

const unitMilliseconds: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }
/** The largest values of AWS's fields: minute, hour, day of month, month, day of week, year. */
const largest = [59, 23, 31, 12, 7, 2199]
const longestTimer = 2 ** 31 - 1

/** Reads an EventBridge schedule expression, `rate(...)` or `cron(...)` in UTC; throws if it is neither. */
export function compileSchedule(expression: string): (work: () => void) => Schedule {
  const rate = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression)
  const period = Number(rate?.[1]) * (unitMilliseconds[rate?.[2] ?? ''] ?? NaN)
  if (period > 0) return (work) => startRate(period, work)
  const pattern = readCron(expression)
  const options = { timezone: 'UTC', mode: '7-part', alternativeWeekdays: true, unref: true } as const
  // Made once without work to see whether it can be read.
  new Cron(pattern, { ...options, paused: true })
  return (work) => {
    const job = new Cron(pattern, options, work)
    return { stop: () => job.stop() }
  }
}

/** AWS's six fields as Croner's seven: AWS has no seconds, and writes `?` where the other way to name days counts. */
function readCron(expression: string): string {
  const fields = /^cron\((\S+ \S+ (\S+) \S+ (\S+) \S+)\)$/.exec(expression)
  const [, all, dayOfMonth, dayOfWeek] = fields ?? []
  if (all === undefined || (dayOfMonth === '?') === (dayOfWeek === '?'))
    throw new Error(`the schedule ${expression} is not one that EventBridge takes`)
  const parts = all.split(' ').map((field, index) =>
    // A start with a step, `0/15`, is for Croner a range with a step.
    field.replaceAll('?', '*').replace(/(?<![\w-])(\d+)\//g, `$1-${largest[index] ?? ''}/`),
  )
  return ['0', ...parts].join(' ')
}

function startRate(period: number, work: () => void): Schedule {
  let next = Date.now() + period
  let timer: NodeJS.Timeout
  // A timer lasts 24 days at most, so a longer period is waited for in several steps.
  const step = () => {
    if (Date.now() >= next) {
      next += period
      work()
    }
    timer = setTimeout(step, Math.min(Math.max(next - Date.now(), 0), longestTimer)).unref()
  }
  timer = setTimeout(step, Math.min(period, longestTimer)).unref()
  return { stop: () => clearTimeout(timer) }
}
