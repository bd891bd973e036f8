import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  appendPosting,
  bracketOf,
  editPosting,
  isPostingOf,
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
      expect(isPostingOf(posting, ranks)).toBe(true)
    }),
  )
})

it('a posting that some changes have not reached is known by that, or finds every match all the same, also later', () => {
  const density = fc.constantFrom(2, 7, 60, size)
  const edits = fc.array(fc.record({ rank: fc.nat(5), matches: fc.boolean(), isLost: fc.boolean() }), {
    maxLength: 12,
  })
  let [known, harmless] = [0, 0]
  fc.assert(
    fc.property(density, edits, (each, changes) => {
      const matching = new Set(Array.from({ length: size }, (_, i) => i).filter((i) => i % each === 0))
      const posting = toPosting([...matching])
      const change = (rank: number, matches: boolean, isLost: boolean) => {
        if (matching.has(rank) === matches) return
        if (matches) matching.add(rank)
        else matching.delete(rank)
        if (!isLost) editPosting(posting, rank, matches)
      }
      for (const { rank, matches, isLost } of changes) change(rank, matches, isLost)
      const ranks = () => [...matching].sort((a, b) => a - b)
      if (!isPostingOf(posting, ranks())) {
        expect(changes.some(({ isLost }) => isLost)).toBe(true)
        known += 1
        return
      }
      harmless += 1
      // Whatever changes from now on is right.
      for (const matches of [true, false, true]) {
        for (let rank = 0; rank < 6; rank += 1) change(rank, matches, false)
        expect(posting.count).toBe(matching.size)
        for (let start = 0; start < Math.min(30, matching.size); start += 1) {
          const bracket = bracketOf(posting, size, start, start + 1)
          const found = ranks().filter((rank) => rank >= bracket.start && rank < bracket.end)
          expect(found[bracket.before]).toBe(ranks()[start])
        }
      }
    }),
    { numRuns: 600 },
  )
  expect(Math.min(known, harmless)).toBeGreaterThan(20)
})

it('a posting of many matches has some hundred bytes, and leaves few members to compare', () => {
  const ranks = Array.from({ length: 32_768 }, (_, i) => i).filter((i) => i % 3 > 0)
  const { posting, bytes } = store(toPosting(ranks))
  expect(posting.ranks).toHaveLength(maxRanks)
  expect(bytes).toBeLessThan(500)
  const { start, end } = bracketOf(posting, 32_768, 10_000, 10_020)
  expect(end - start).toBeLessThan(400)
})
