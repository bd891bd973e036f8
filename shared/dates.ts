import { settings } from './settings.ts'

const dayMilliseconds = 86_400_000
/** No place on Earth is further than this from UTC, in either direction. */
const furthestOffsetMilliseconds = 15 * 3_600_000

const formats = new Map<string, Intl.DateTimeFormat>()

function format(timeZone: string): Intl.DateTimeFormat {
  let known = formats.get(timeZone)
  if (known === undefined) {
    known = new Intl.DateTimeFormat('en-US', { timeZone, year: 'numeric', month: 'numeric', day: 'numeric' })
    formats.set(timeZone, known)
  }
  return known
}

/** UTC midnight of the calendar day that an instant falls on in a time zone: a day as a number that can be compared. */
function calendarDay(instant: number, timeZone: string): number {
  const parts = new Map(
    format(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  )
  return Date.UTC(parts.get('year') ?? Number.NaN, (parts.get('month') ?? Number.NaN) - 1, parts.get('day'))
}

const utcMidnight = (day: string): number => Date.parse(`${day}T00:00:00Z`)

/** The day (`yyyy-MM-dd`) on which an instant (epoch milliseconds) falls, in the reporting time zone unless another is named. */
export const dayOf = (instant: number, timeZone = settings().reportingTimeZone): string =>
  new Date(calendarDay(instant, timeZone)).toISOString().slice(0, 10)

/** A day a number of days after another, or before it where the number is negative. */
export const addDays = (day: string, days: number): string =>
  new Date(utcMidnight(day) + days * dayMilliseconds).toISOString().slice(0, 10)

/**
 * First instant (epoch milliseconds) of a day, in the reporting time zone unless another is named. It is not always
 * midnight: where the clock skips midnight, the day begins at one o'clock.
 */
export const startOfDay = (day: string, timeZone = settings().reportingTimeZone): number =>
  firstInstantFrom(utcMidnight(day), timeZone)

/** First instant (epoch milliseconds) after a day: days of 23 and 25 hours included. */
export const endOfDay = (day: string, timeZone = settings().reportingTimeZone): number =>
  firstInstantFrom(utcMidnight(day) + dayMilliseconds, timeZone)

/** By bisection, for only the time zone's own rules know where a day begins. */
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

/** Whether a first and a last day, either of which may be left open, are in order. */
export const daysInOrder = (first: string | undefined, last: string | undefined): boolean =>
  first === undefined || last === undefined || first <= last
