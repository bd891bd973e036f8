import { Cron, type CronOptions } from 'croner'

/** A running schedule, which can be stopped. */
export type Schedule = Pick<Cron, 'stop'>

const unitSeconds: Record<string, number> = { minute: 60, hour: 3600, day: 86_400 }
/** Maximum of each EventBridge cron field: minute, hour, day of month, month, day of week, year. */
const fieldMaxima = [59, 23, 31, 12, 7, 2199]

/** Compiles an EventBridge schedule, `rate(...)` or `cron(...)` in UTC; throws on any other expression. */
export function compileSchedule(expression: string): (work: () => void) => Schedule {
  const options: CronOptions = { timezone: 'UTC', mode: '7-part', alternativeWeekdays: true, unref: true }
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? []
  const interval = Number(count) * (unitSeconds[unit] ?? NaN)
  if (interval > 0)
    // Croner runs this pattern every second, but `interval` makes it pause between runs, and `startAt` delays
    // the first run by one interval.
    return (work) => {
      const startAt = new Date(Date.now() + interval * 1000).toISOString()
      return new Cron('* * * * * * *', { ...options, interval, startAt }, work)
    }
  const pattern = readCron(expression)
  // Croner throws here if a field is out of range.
  new Cron(pattern, { ...options, paused: true })
  return (work) => new Cron(pattern, options, work)
}

/** Converts EventBridge's six cron fields (`?` for an unused day) to Croner's seven, with seconds. */
function readCron(expression: string): string {
  const [, fields, dayOfMonth, dayOfWeek] = /^cron\((\S+ \S+ (\S+) \S+ (\S+) \S+)\)$/.exec(expression) ?? []
  if (fields === undefined || (dayOfMonth === '?') === (dayOfWeek === '?'))
    throw new Error(`the schedule ${expression} is not one that EventBridge takes`)
  const parts = fields.split(' ').map((field, index) =>
    // Croner needs a range where EventBridge allows a start with a step, such as `0/15`.
    field.replaceAll('?', '*').replace(/(?<![\w-])(\d+)\//g, `$1-${fieldMaxima[index] ?? ''}/`),
  )
  return ['0', ...parts].join(' ')
}
