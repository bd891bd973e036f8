import { expect, it } from 'vitest'
import { drainMilliseconds } from '../../../../infra/ops/maintenance/limits.ts'

it.each([
  ['requests', 10],
  ['events', 30],
  ['schedules', 180],
] as const)(
  'for running %s to end, maintenance waits %i s, and does not wait for the ledger verification',
  (part, seconds) => {
    expect(drainMilliseconds(part)).toBe(seconds * 1_000)
  },
)
