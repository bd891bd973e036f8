import { expect, it } from 'vitest'
import { drainMilliseconds } from '../../../../infra/ops/maintenance/limits.ts'

it('to stop a part of the service, maintenance waits for the time limit of its functions', () => {
  const parts = ['requests', 'events', 'schedules'] as const
  expect(parts.map(drainMilliseconds)).toEqual([10_000, 30_000, 180_000])
})
