import { expect, it } from 'vitest'
import { drainMilliseconds } from '../../../../infra/ops/maintenance/limits.ts'

it.each([
  ['requests', 10],
  ['events', 30],
  ['schedules', 180],
] as const)(
  'running %s end within %i s, not counting the ledger verification, which only reads',
  (part, seconds) => {
    expect(drainMilliseconds(part)).toBe(seconds * 1_000)
  },
)
