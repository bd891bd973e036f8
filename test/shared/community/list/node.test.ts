import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type BTreeNode, nodeCapacity, packNode, unpackNode } from '../../../../shared/community/list/node.ts'
import type { Item } from '../../../../shared/db/table.ts'

const version = { value: '3' }
const position = fc.record({
  joinedAt: fc.oneof(fc.nat(3), fc.nat(8_640_000_000_000_000)),
  userId: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
})
const member = fc
  .record({ position, nickname: fc.string({ unit: 'binary' }), maskedEmail: fc.string() })
  .map(({ position, ...text }) => ({ ...position, text }))
const child = fc
  .record({ first: position, count: fc.nat(), id: fc.nat() })
  .map(({ first, count, id }) => ({ ...first, count, id }))

/** Leaves and branches, of up to 300 entries. */
const nodes = fc.oneof(
  fc
    .array(member, { maxLength: 300, minLength: 1 })
    .map((entries): BTreeNode => ({ kind: 'leaf', version: 3, entries })),
  fc
    .array(child, { maxLength: 300, minLength: 1 })
    .map((entries): BTreeNode => ({ kind: 'branch', version: 3, entries })),
)
const toItem = (node: BTreeNode): Item => ({ ...packNode(node), version })

it('a packed B-tree node unpacks to the same node', () => {
  fc.assert(
    fc.property(nodes, (node) => {
      expect(unpackNode(toItem(node))).toEqual(node)
    }),
    { numRuns: 400 },
  )
})

it('a truncated B-tree node is rejected', () => {
  fc.assert(
    fc.property(nodes, (node) => {
      const item = toItem(node)
      const packed = (item['packed'] as Uint8Array).subarray(0, -1)
      expect(() => unpackNode({ ...item, packed })).toThrow('unexpected end of file')
    }),
    { numRuns: 400 },
  )
})

it('a full branch of a member list’s B-tree takes less than 4 KB', () => {
  const entries = Array.from({ length: nodeCapacity }, (_, i) => ({
    joinedAt: 1_767_225_600_000 + i * 60_000_000 + ((i * 7_919) % 29_989),
    userId: 4_000_000_000 + i * 1_000,
    count: 150 + ((i * 31) % 97),
    id: i,
  }))
  const { packed } = packNode({ kind: 'branch', version: 1, entries })
  expect((packed as Uint8Array).length).toBeLessThan(4_000)
})
