import { expect, it } from 'vitest'
import { drainMilliseconds } from '../../../../infra/ops/maintenance/limits.ts'

it('maintenance waits until all calls that were running at the stop must have ended', () => {
  const parts = ['requests', 'events', 'schedules'] as const
  expect(parts.map(drainMilliseconds)).toEqual([10_000, 30_000, 180_000])
})
