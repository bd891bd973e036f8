import type { SQSRecord } from 'aws-lambda'
import { expect, it, vi } from 'vitest'
import { growingPause } from '../../../shared/aws/delay-retry.ts'

const now = 1_800_000_000_000

/** The pause of a message that was first received some milliseconds ago, and `receives` times since. */
function pauseAfter(milliseconds: number, receives = 1): number {
  vi.useFakeTimers({ toFake: ['Date'], now })
  const attributes = {
    ApproximateReceiveCount: String(receives),
    SentTimestamp: String(now - 3_600_000),
    ApproximateFirstReceiveTimestamp: String(now - milliseconds),
  }
  const pause = growingPause({ attributes } as SQSRecord, 900)
  vi.useRealTimers()
  return pause
}

it('a message that fails again and again is received after pauses that double, up to the longest', () => {
  const pauses: number[] = []
  for (let waited = 0; pauses.length < 12; waited += 1_000 * (pauses.at(-1) ?? 0))
    pauses.push(pauseAfter(waited))
  expect(pauses).toEqual([2, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
})

it('receives that were no failures do not make the pause longer', () => {
  expect(pauseAfter(10_000, 12)).toBe(10)
})
