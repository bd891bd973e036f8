import * as v from 'valibot'
import { expect, it, vi } from 'vitest'
import { addDays, dayOf, endOfDay, isoInstant, startOfDay } from '../../shared/dates.ts'
import { Settings } from '../../shared/settings.ts'

const hour = 3_600_000

it.each([
  ['2026-11-21', 'UTC', '2026-11-21T00:00:00Z', 24],
  ['2026-11-21', 'Asia/Shanghai', '2026-11-20T16:00:00Z', 24],
  ['2026-11-21', 'Asia/Kathmandu', '2026-11-20T18:15:00Z', 24],
  ['2026-11-21', 'Pacific/Kiritimati', '2026-11-20T10:00:00Z', 24],
  ['2026-11-21', 'Etc/GMT+12', '2026-11-21T12:00:00Z', 24],
  ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00Z', 23],
  ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00Z', 25],
  // In Santiago, this day has no midnight: after 23:59:59 of the day before, clocks skip to 01:00.
  ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00Z', 23],
  ['2026-04-04', 'America/Santiago', '2026-04-04T03:00:00Z', 25],
  ['9999-12-31', 'UTC', '9999-12-31T00:00:00Z', 24],
])('the day %s in %s begins at %s and has %d hours', (day, timeZone, start, hours) => {
  const begin = startOfDay(day, timeZone)
  expect(new Date(begin).toISOString()).toBe(new Date(start).toISOString())
  expect((endOfDay(day, timeZone) - begin) / hour).toBe(hours)
  expect(dayOf(begin, timeZone)).toBe(day)
  expect(dayOf(begin - 1, timeZone)).toBe(addDays(day, -1))
  expect(dayOf(endOfDay(day, timeZone) - 1, timeZone)).toBe(day)
})

it('consecutive days of a time zone neither overlap nor leave a gap', () => {
  for (const timeZone of ['Europe/Berlin', 'America/Santiago', 'Asia/Kathmandu', 'Australia/Lord_Howe']) {
    for (let day = '2026-01-01'; day < '2027-01-01'; day = addDays(day, 1))
      expect(endOfDay(day, timeZone)).toBe(startOfDay(addDays(day, 1), timeZone))
  }
})

it('the days of the time zone UTC are computed without Intl, with the same results as with Intl', () => {
  const instants = [-1, 0, 1, 86_399_999, 86_400_000, -86_400_000, Date.UTC(2024, 1, 29, 23, 59, 59, 999)]
  for (const instant of instants) expect(dayOf(instant, 'UTC')).toBe(dayOf(instant, 'Etc/UTC'))
  for (const day of ['1969-12-31', '2024-02-29', '2026-11-22'])
    expect(startOfDay(day, 'UTC')).toBe(startOfDay(day, 'Etc/UTC'))
})

it('Intl is not used for the time zone UTC, because the first use of Intl slows a cold start', () => {
  const format = vi.spyOn(Intl, 'DateTimeFormat')
  expect(v.parse(Settings, { reportingTimeZone: 'UTC' }).reportingTimeZone).toBe('UTC')
  dayOf(0, 'UTC')
  endOfDay('2026-11-22', 'UTC')
  expect(format).not.toHaveBeenCalled()
  expect(() => v.parse(Settings, { reportingTimeZone: 'Mars/Phobos' })).toThrow('IANA')
  expect(format).toHaveBeenCalled()
})

it.each([
  ['2026-12-31', 1, '2027-01-01'],
  ['2028-02-28', 1, '2028-02-29'],
  ['2026-03-01', -1, '2026-02-28'],
  ['2026-03-01', 0, '2026-03-01'],
])('the day %s plus %d days is %s', (day, days, expected) => {
  expect(addDays(day, days)).toBe(expected)
})

it.each([
  ['UTC', '2026-07-01T12:34:56.789Z'],
  ['Europe/Berlin', '2026-07-01T14:34:56.789+02:00'],
  ['Asia/Kathmandu', '2026-07-01T18:19:56.789+05:45'],
  ['America/St_Johns', '2026-07-01T10:04:56.789-02:30'],
  ['Etc/UTC', '2026-07-01T12:34:56.789+00:00'],
])('an instant is written in ISO 8601 with the offset of %s', (timeZone, text) => {
  expect(isoInstant(Date.UTC(2026, 6, 1, 12, 34, 56, 789), timeZone)).toBe(text)
})

it('an ISO 8601 text denotes its instant even where an offset has seconds or a clock is set back', () => {
  for (const instant of [-1, 0, 1_667_000_000_000, 1_792_890_000_000, 1_792_893_600_000, 250_000_000_000_000])
    for (const timeZone of ['Africa/Monrovia', 'Europe/Berlin', 'America/Santiago', 'Australia/Lord_Howe'])
      expect(Date.parse(isoInstant(instant, timeZone)), timeZone).toBe(instant)
})
