import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type BTreeEntry,
  packNode,
  standardCapacity,
  unpackNode,
} from '../../../../shared/community/counted-b-tree/node.ts'

/** Packs a leaf and unpacks its item as the table returns it. */
const roundTrip = (entries: BTreeEntry[]) =>
  unpackNode({ ...packNode({ kind: 'leaf', version: 3, entries }), version: { value: '3' } })

const entry = fc.record({
  joinedAt: fc.oneof(fc.nat(3), fc.nat(8_640_000_000_000_000)),
  userId: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  chunk: fc.oneof(fc.nat(3), fc.nat(2 ** 32 - 1)),
})

it('a leaf is unpacked as it was packed', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 300 }), (entries) => {
      expect(roundTrip(entries)).toEqual({ kind: 'leaf', version: 3, entries })
    }),
    { numRuns: 1000 },
  )
})

it('a full leaf of a large tree takes less than 4 KB', () => {
  const entries = Array.from({ length: standardCapacity.entries }, (_, i) => ({
    joinedAt: 1_767_225_600_000 + i * 60_000_000,
    userId: 4_000_000_000 + i * 1_000,
    chunk: (i * 7919) % 20_000,
  }))
  expect((packNode({ kind: 'leaf', version: 1, entries })['packed'] as Uint8Array).length).toBeLessThan(4_000)
})

it('a leaf that is cut short is refused', () => {
  const item = packNode({ kind: 'leaf', version: 1, entries: [{ joinedAt: 1, userId: 2, chunk: 3 }] })
  const packed = (item['packed'] as Uint8Array).subarray(0, -1)
  expect(() => unpackNode({ ...item, packed, version: { value: '1' } })).toThrow(RangeError)
})
