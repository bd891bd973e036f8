import { expect, it } from 'vitest'
import { drainMilliseconds } from '../../../../infra/ops/maintenance/limits.ts'

it.each([
  ['requests', 10],
  ['events', 30],
  ['schedules', 180],
] as const)('after maintenance stops %s, it waits %i s for running calls to end', (part, seconds) => {
  expect(drainMilliseconds(part)).toBe(seconds * 1_000)
})
