import { Cron, type CronOptions } from 'croner'

/** A running schedule. */
export type Schedule = Pick<Cron, 'stop'>

const unitSeconds: Record<string, number> = { minute: 60, hour: 3600, day: 86_400 }
/** The maxima of AWS's fields: minute, hour, day of month, month, day of week, year. */
const fieldMaxima = [59, 23, 31, 12, 7, 2199]

/** Compiles an EventBridge schedule, `rate(...)` or `cron(...)` in UTC; throws on any other expression. */
export function compileSchedule(expression: string): (work: () => void) => Schedule {
  const options: CronOptions = { timezone: 'UTC', mode: '7-part', alternativeWeekdays: true, unref: true }
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? []
  const interval = Number(count) * (unitSeconds[unit] ?? NaN)
  if (interval > 0)
    // Every second, but no earlier than one interval from now, and with an interval between.
    return (work) => {
      const startAt = new Date(Date.now() + interval * 1000).toISOString()
      return new Cron('* * * * * * *', { ...options, interval, startAt }, work)
    }
  const pattern = readCron(expression)
  // Croner throws here on a field out of range.
  new Cron(pattern, { ...options, paused: true })
  return (work) => new Cron(pattern, options, work)
}

/** AWS's six fields as Croner's seven: AWS has no seconds, and writes `?` for the unused day field. */
function readCron(expression: string): string {
  const [, fields, dayOfMonth, dayOfWeek] = /^cron\((\S+ \S+ (\S+) \S+ (\S+) \S+)\)$/.exec(expression) ?? []
  if (fields === undefined || (dayOfMonth === '?') === (dayOfWeek === '?'))
    throw new Error(`the schedule ${expression} is not one that EventBridge takes`)
  const parts = fields.split(' ').map((field, index) =>
    // Croner needs a range where AWS has a start with a step: `0/15`.
    field.replaceAll('?', '*').replace(/(?<![\w-])(\d+)\//g, `$1-${fieldMaxima[index] ?? ''}/`),
  )
  return ['0', ...parts].join(' ')
}
