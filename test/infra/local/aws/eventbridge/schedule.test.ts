import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { compileSchedule } from '../../../../../infra/local/aws/eventbridge/schedule.ts'

beforeEach(() => {
  // The clock starts on a Sunday, so that weekday schedules have a known first run.
  vi.useFakeTimers({ now: new Date('2026-03-01T00:00:30Z') })
})
afterEach(() => {
  vi.useRealTimers()
})

test.each([
  ['rate(1 minute)', '2026-03-01T00:01:30Z'],
  ['rate(12 hours)', '2026-03-01T12:00:30Z'],
  ['rate(30 days)', '2026-03-31T00:00:30Z'],
  ['cron(0/15 * * * ? *)', '2026-03-01T00:15:00Z'],
  ['cron(5 3 * * ? *)', '2026-03-01T03:05:00Z'],
  ['cron(0 0 ? * MON *)', '2026-03-02T00:00:00Z'],
  ['cron(0 9-17/4 ? * 1 *)', '2026-03-01T09:00:00Z'],
  ['cron(0 8 1 * ? *)', '2026-03-01T08:00:00Z'],
])('the schedule %s runs first at %s', async (expression, first) => {
  const runs: string[] = []
  const schedule = compileSchedule(expression)(() => runs.push(new Date().toISOString()))
  const until = new Date(first).getTime()
  await vi.advanceTimersByTimeAsync(until - Date.now() - 1)
  expect(runs).toEqual([])
  await vi.advanceTimersByTimeAsync(1001)
  expect(runs.map((run) => run.replace(/\.\d+Z$/, 'Z'))).toEqual([first])
  schedule.stop()
  expect(vi.getTimerCount()).toBe(0)
})

test('the schedule rate(5 minutes) runs twelve times in an hour', async () => {
  let runs = 0
  const schedule = compileSchedule('rate(5 minutes)')(() => (runs += 1))
  await vi.advanceTimersByTimeAsync(60 * 60_000)
  expect(runs).toBe(12)
  schedule.stop()
})

test.each([
  'rate(0 minutes)',
  'rate(5 seconds)',
  'rate(1.5 hours)',
  'cron(* * * * *)',
  'cron(0 0 * * * *)',
  'cron(0 0 ? * ? *)',
  'cron(99 0 * * ? *)',
  'every day',
])('the schedule %s, which EventBridge does not accept, is rejected', (expression) => {
  expect(() => compileSchedule(expression)).toThrow()
})
