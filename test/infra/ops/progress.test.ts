import { Writable } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { showFall, startProgress, waitVisibly } from '../../../infra/ops/progress.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** A terminal that keeps what is written to it. */
function newScreen() {
  const written: string[] = []
  const screen = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written.push(chunk.toString())
        done()
      },
    }),
    { isTTY: true, columns: 80 },
  ) as unknown as NodeJS.WriteStream
  return { screen, written: () => written.join('') }
}

/** Shows progress for a while. Tells what it wrote. */
async function showProgress() {
  const { screen, written } = newScreen()
  using progress = startProgress({ screen }, 'verifying', 'wallets')
  vi.advanceTimersByTime(600)
  progress.show(3, 12)
  await vi.advanceTimersByTimeAsync(1_000)
  return written
}

it('progress shows how much is done, of how much', async () => {
  const written = await showProgress()
  expect(written()).toMatch(/verifying \[=+ +\] 25 %, 3 of 12 wallets/)
})

it('progress disappears when its work ends', async () => {
  const written = await showProgress()
  const shown = written().length
  await vi.advanceTimersByTimeAsync(5_000)
  expect(written()).toHaveLength(shown)
  expect(vi.getTimerCount()).toBe(0)
})

it('work that ends within half a second shows no progress', async () => {
  const { screen, written } = newScreen()
  {
    using progress = startProgress({ screen }, 'verifying', 'wallets')
    for (let done = 0; done <= 4; done += 1) {
      progress.show(done, 4)
      await vi.advanceTimersByTimeAsync(100)
    }
  }
  expect(written()).toBe('')
})

it('if more is done than was expected, the end moves', async () => {
  const { screen, written } = newScreen()
  using progress = startProgress({ screen }, 'reading', 'items')
  vi.advanceTimersByTime(600)
  progress.show(20, 10)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(written()).toContain('100 %, 20 of 20 items')
})

it('the progress of a number that rises and falls is what has fallen off its highest value', () => {
  const shown: number[][] = []
  const show = showFall((...values) => void shown.push(values))
  for (const left of [5, 8, 2, 0]) show(left)
  expect(shown).toEqual([
    [0, 5],
    [0, 8],
    [6, 8],
    [8, 8],
  ])
})

it('a wait lasts as long as without a screen, and shows its seconds', async () => {
  vi.useRealTimers()
  const { screen, written } = newScreen()
  const startedAt = performance.now()
  await waitVisibly({ screen }, 'waiting', 1_900)
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_899)
  expect(written()).toContain('1 of 2 seconds')
})
