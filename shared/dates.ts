import { settings } from './settings.ts'

const dayMilliseconds = 86_400_000
/** A little more than the largest offset from UTC that any time zone has, in either direction. */
const furthestOffsetMilliseconds = 15 * 3_600_000

const formats = new Map<string, Intl.DateTimeFormat>()

/** Formats instants as days in a time zone: `yyyy-MM-dd`, which is the Swedish date format. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone })
  formats.set(timeZone, format)
  return format
}

/**
 * The day of an instant in a time zone, as a comparable number: UTC midnight of the day. UTC days are
 * computed without Intl, because its first use takes 10 ms of processor time.
 */
const calendarDay = (instant: number, timeZone: string): number =>
  timeZone === 'UTC'
    ? Math.floor(instant / dayMilliseconds) * dayMilliseconds
    : utcMidnight(formatOf(timeZone).format(instant).padStart(10, '0'))

const utcMidnight = (day: string): number => Date.parse(`${day}T00:00:00Z`)

/** The day (`yyyy-MM-dd`) of an instant (epoch milliseconds), in the reporting time zone by default. */
export const dayOf = (instant: number, timeZone = settings().reportingTimeZone): string =>
  new Date(calendarDay(instant, timeZone)).toISOString().slice(0, 10)

const minuteMilliseconds = 60_000

const clockFormats = new Map<string, Intl.DateTimeFormat>()

/** Formats instants as a clock shows them in a time zone: `yyyy-MM-dd HH:mm:ss`, as in Sweden. */
function clockFormatOf(timeZone: string): Intl.DateTimeFormat {
  const format =
    clockFormats.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  clockFormats.set(timeZone, format)
  return format
}

/** The offset of a time zone from UTC at an instant, in whole minutes. */
function offsetMinutes(instant: number, timeZone: string): number {
  const clock = Date.parse(`${clockFormatOf(timeZone).format(instant).replace(' ', 'T')}Z`)
  return Math.round((clock - instant) / minuteMilliseconds)
}

/**
 * Formats an instant (epoch milliseconds) in ISO 8601 with the offset of the time zone, the reporting time
 * zone by default: `2026-11-29T02:30:00.000+01:00`, or `…Z` in UTC.
 */
export function isoInstant(instant: number, timeZone = settings().reportingTimeZone): string {
  if (timeZone === 'UTC') return new Date(instant).toISOString()
  const offset = offsetMinutes(instant, timeZone)
  const clock = new Date(instant + offset * minuteMilliseconds).toISOString().slice(0, -1)
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((part) =>
    String(part).padStart(2, '0'),
  )
  return `${clock}${offset < 0 ? '-' : '+'}${hours}:${minutes}`
}

/** Adds a number of days to a day; a negative number goes back. */
export const addDays = (day: string, days: number): string =>
  new Date(utcMidnight(day) + days * dayMilliseconds).toISOString().slice(0, 10)

/**
 * First instant (epoch milliseconds) of a day, in the reporting time zone by default. The instant is
 * midnight, or one o'clock if a clock change skips midnight.
 */
export const startOfDay = (day: string, timeZone = settings().reportingTimeZone): number =>
  firstInstantFrom(utcMidnight(day), timeZone)

/** First instant (epoch milliseconds) after a day, which may have 23 or 25 hours. */
export const endOfDay = (day: string, timeZone = settings().reportingTimeZone): number =>
  firstInstantFrom(utcMidnight(day) + dayMilliseconds, timeZone)

/** Finds a day's first instant by bisection, because Intl converts instants to days, not days to instants. */
function firstInstantFrom(day: number, timeZone: string): number {
  let before = day - furthestOffsetMilliseconds
  let from = day + furthestOffsetMilliseconds
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2)
    if (calendarDay(middle, timeZone) >= day) from = middle
    else before = middle
  }
  return from
}

/** Whether a period begins no later than it ends. Its first or last day may be undefined. */
export const daysInOrder = (first: string | undefined, last: string | undefined): boolean =>
  first === undefined || last === undefined || first <= last
