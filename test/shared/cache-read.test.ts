import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { cacheRead } from '../../shared/cache-read.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_000 }))
afterEach(() => vi.useRealTimers())
const passTime = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds)

/** Creates a cache whose read function returns how often it was called. The value 13 is never kept. */
function countReads(onlyAfter?: { requests: number; withinMilliseconds: number }) {
  let reads = 0
  const cached = cacheRead(() => Promise.resolve((reads += 1)), {
    maxAge: () => 1_000,
    ...(onlyAfter && { onlyAfter }),
    keeps: (value) => value !== 13,
  })
  const getSeveral = async (times: number) => {
    for (let i = 1; i < times; i += 1) await cached.get()
    return cached.get()
  }
  return { ...cached, getSeveral }
}

it('a cached value is reused for exactly its maximum age', async () => {
  const { get } = countReads()
  expect(await get()).toBe(1)
  passTime(999)
  expect(await get()).toBe(1)
  passTime(1)
  expect(await get()).toBe(2)
})

it('a cached value is read from its source again after the clock was set back', async () => {
  const { get } = countReads()
  await get()
  passTime(-1)
  expect(await get()).toBe(2)
})

it('a rarely requested value is read anew for each request', async () => {
  const { get } = countReads({ requests: 3, withinMilliseconds: 900 })
  for (let reads = 1; reads < 10; reads += 1) {
    expect(await get()).toBe(reads)
    passTime(300)
  }
})

it('a value is read again only after its maximum age, however often it is requested', async () => {
  const { getSeveral } = countReads({ requests: 3, withinMilliseconds: 1_000 })
  expect(await getSeveral(1_000)).toBe(3)
  passTime(999)
  expect(await getSeveral(1_000)).toBe(3)
  passTime(1)
  expect(await getSeveral(1_000)).toBe(4)
})

it('simultaneous requests share a read if the value is requested often', async () => {
  const { get } = countReads({ requests: 3, withinMilliseconds: 1_000 })
  expect(await Promise.all(Array.from({ length: 6 }, get))).toEqual([1, 2, 3, 3, 3, 3])
})

it('a value is read again if the cache was told to forget it, or if `keeps` returns false for it', async () => {
  const { get, getSeveral, forget } = countReads()
  for (let reads = 1; reads <= 12; reads += 1) {
    expect(await getSeveral(2)).toBe(reads)
    forget()
  }
  expect(await get()).toBe(13)
  expect(await get()).toBe(14)
})

it('a failed read is repeated by the next request', async () => {
  const read = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error('down'))
  const { get } = cacheRead(read.mockResolvedValue('up'), { maxAge: () => 1_000 })
  await expect(get()).rejects.toThrow('down')
  expect(await get()).toBe('up')
})
