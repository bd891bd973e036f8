import { afterEach, expect, it, vi } from 'vitest'
import {
  chooseShard,
  journalShards,
  shardName,
  spreadShard,
} from '../../../shared/community/journal-shards.ts'

afterEach(() => vi.useRealTimers())

/** How many of some entries, written in one second, are in each shard. */
function countShards(rootId: number, entries: number): number[] {
  const counts = Array<number>(journalShards).fill(0)
  for (let userId = 0; userId < entries; userId += 1) {
    const shard = chooseShard(rootId, userId)
    counts[shard] = (counts[shard] ?? 0) + 1
  }
  return counts
}

it('a tree with a few entries a second has all of them in shard 0', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  for (let second = 0; second < 3; second += 1) {
    expect(countShards(1, 5)[0]).toBe(5)
    expect(countShards(2, 5)[0]).toBe(5)
    vi.setSystemTime(Date.now() + 1_000)
  }
})

it('further entries of one second are spread evenly over the other shards', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const [first, ...others] = countShards(3, 5 + 150)
  expect(first).toBe(5)
  expect(others).toEqual(Array<number>(15).fill(10))
})

it('the entries of a member are in shard 0 or in that of the member', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const shards = new Set(Array.from({ length: 20 }, () => chooseShard(4, 1_234_567)))
  expect(shards).toEqual(new Set([0, spreadShard(1_234_567)]))
})

it('shard 0 has the name of the whole journal in earlier releases', () => {
  expect([shardName(12, 0), shardName(12, 3)]).toEqual(['12', '12#3'])
})
