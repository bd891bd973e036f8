import { expect, it } from 'vitest'
import { drainMilliseconds } from '../../../../infra/ops/maintenance/limits.ts'

it('after a stop, maintenance waits for the time limit of the calls that were still running', () => {
  const parts = ['requests', 'events', 'schedules'] as const
  expect(parts.map(drainMilliseconds)).toEqual([10_000, 30_000, 180_000])
})
