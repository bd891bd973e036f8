import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  appendPosting,
  bracketOf,
  editPosting,
  maxRanks,
  readPosting,
  toPosting,
} from '../../../../shared/community/search-index/posting.ts'
import { signedReader } from '../../../../shared/community/counted-b-tree/signed-varint.ts'

const size = 2_000

/** A posting as it is after it has been stored. */
function store(posting: ReturnType<typeof toPosting>) {
  const bytes: number[] = []
  appendPosting(bytes, posting)
  return { posting: readPosting(signedReader(Uint8Array.from(bytes))), bytes: bytes.length }
}

it('any range of matches is found between the ranks that a posting keeps, however often it was changed', () => {
  const density = fc.constantFrom(2, 7, 60, size)
  const edits = fc.array(fc.record({ rank: fc.nat(size - 1), matches: fc.boolean() }), { maxLength: 40 })
  fc.assert(
    fc.property(density, edits, fc.nat(), fc.nat(), (each, changes, from, length) => {
      const matching = new Set(Array.from({ length: size }, (_, i) => i).filter((i) => i % each === 0))
      let { posting } = store(toPosting([...matching]))
      for (const { rank, matches } of changes) {
        if (matching.has(rank) === matches) continue
        if (matches) matching.add(rank)
        else matching.delete(rank)
        // An interrupted worker makes a change again.
        editPosting(posting, rank, matches)
        editPosting(posting, rank, matches)
        posting = store(posting).posting
      }
      const ranks = [...matching].sort((a, b) => a - b)
      expect(posting.count).toBe(ranks.length)
      if (ranks.length === 0) return
      const start = from % ranks.length
      const end = Math.min(ranks.length, start + 1 + (length % 30))
      const bracket = bracketOf(posting, size, start, end)
      const found = ranks.filter((rank) => rank >= bracket.start && rank < bracket.end)
      expect(found.slice(bracket.before, bracket.before + end - start)).toEqual(ranks.slice(start, end))
      if (posting.interval === 1) expect(posting.ranks).toEqual(ranks)
    }),
  )
})

it('a posting of many matches has some hundred bytes, and leaves few members to compare', () => {
  const ranks = Array.from({ length: 32_768 }, (_, i) => i).filter((i) => i % 3 > 0)
  const { posting, bytes } = store(toPosting(ranks))
  expect(posting.ranks).toHaveLength(maxRanks)
  expect(bytes).toBeLessThan(500)
  const { start, end } = bracketOf(posting, 32_768, 10_000, 10_020)
  expect(end - start).toBeLessThan(400)
})
