import { describe, expect, it } from 'vitest'
import { allocateChunks, chunkSize, type OpenChunk } from '../../../shared/community/search-chunks.ts'

describe('allocateChunks', () => {
  const open = (...chunks: [ownerId: number, chunk: OpenChunk][]) => new Map(chunks)

  it('an owner without an open search chunk gets the next new one', () => {
    expect(allocateChunks([1, 1], open(), 5)).toEqual({
      chunks: [5, 5],
      openByOwner: open([1, { chunk: 5, textCount: 2 }]),
      chunkCount: 6,
    })
  })

  it('the open search chunk is filled before another one is opened', () => {
    const before = open([1, { chunk: 2, textCount: chunkSize - 1 }])
    expect(allocateChunks([1, 1], before, 5)).toEqual({
      chunks: [2, 5],
      openByOwner: open([1, { chunk: 5, textCount: 1 }]),
      chunkCount: 6,
    })
  })

  it('members of different owners go into different search chunks', () => {
    expect(allocateChunks([1, 2, 1, 2], open([2, { chunk: 0, textCount: 3 }]), 1)).toEqual({
      chunks: [1, 0, 1, 0],
      openByOwner: open([2, { chunk: 0, textCount: 5 }], [1, { chunk: 1, textCount: 2 }]),
      chunkCount: 2,
    })
  })

  it('a search chunk never gets more texts than its capacity', () => {
    const { chunks } = allocateChunks(
      Array.from({ length: 1000 }, (_, i) => i % 3),
      open(),
      0,
    )
    const sizes = [...Map.groupBy(chunks, (chunk) => chunk).values()].map(({ length }) => length)
    expect(Math.max(...sizes)).toBe(chunkSize)
  })

  it('allocating search chunks does not modify the open chunks that were passed in', () => {
    const before = open([1, { chunk: 2, textCount: 3 }])
    allocateChunks([1], before, 5)
    expect(before).toEqual(open([1, { chunk: 2, textCount: 3 }]))
  })
})
