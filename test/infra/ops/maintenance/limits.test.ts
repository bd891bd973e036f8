import { describe, expect, it } from 'vitest'
import { drainMilliseconds } from '../../../../infra/ops/maintenance/limits.ts'

const at = (time: string) => Date.parse(`2026-03-01T${time}Z`)

describe('how long the switch waits for what had begun', () => {
  it.each([
    ['requests', 10],
    ['events', 30],
    ['schedules', 180],
  ] as const)('%s end within %i s', (part, seconds) => {
    expect(drainMilliseconds(part, at('12:00:00'))).toBe(seconds * 1_000)
  })

  it.each([
    ['03:00:00', 1_020],
    ['03:05:00', 720],
    ['03:13:59', 181],
    ['03:14:01', 180],
    ['02:59:59', 180],
  ])('at %s, when the nightly verification may be at work, schedules end within %i s', (time, seconds) => {
    expect(drainMilliseconds('schedules', at(time))).toBe(seconds * 1_000)
  })
})
