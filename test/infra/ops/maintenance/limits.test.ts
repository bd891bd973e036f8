import { expect, it } from 'vitest'
import { drainMilliseconds } from '../../../../infra/ops/maintenance/limits.ts'

it('maintenance waits until calls that were running before a stop have reached their time limit', () => {
  const parts = ['requests', 'events', 'schedules'] as const
  expect(parts.map(drainMilliseconds)).toEqual([10_000, 30_000, 180_000])
})
