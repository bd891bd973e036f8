import fc from 'fast-check'
import { expect, it } from 'vitest'
import { packTexts, unpackTexts } from '../../../shared/community/search-chunks.ts'

it('search texts are unpacked as they were packed', () => {
  const text = fc.record({
    nickname: fc.string({ unit: 'grapheme' }),
    maskedEmail: fc.string({ unit: 'grapheme' }),
  })
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(Number.MAX_SAFE_INTEGER), text)), (members) => {
      const texts = new Map(members)
      expect([...unpackTexts(packTexts(texts))]).toEqual([...texts])
    }),
    { numRuns: 1000 },
  )
})
