import { describe, expect, it } from 'vitest'
import { drainMilliseconds } from '../../../../infra/ops/maintenance/limits.ts'

describe('how long the switch waits for what had begun', () => {
  it.each([
    ['requests', 10],
    ['events', 30],
    ['schedules', 180],
  ] as const)(
    '%s end within %i s, and a verification of the ledger, which only reads, is not waited for',
    (part, seconds) => {
      expect(drainMilliseconds(part)).toBe(seconds * 1_000)
    },
  )
})
