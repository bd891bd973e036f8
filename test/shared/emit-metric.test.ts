import { expect, it, vi } from 'vitest'
import { emitMetric } from '../../shared/emit-metric.ts'

it('a metric has the current time in milliseconds', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  emitMetric('Events', 1)
  const line = JSON.parse(String(write.mock.lastCall?.[0])) as { _aws: { Timestamp: number } }
  expect(line._aws.Timestamp).toBeCloseTo(Date.now(), -4)
})
