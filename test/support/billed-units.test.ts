import { describe, expect, it } from 'vitest'
import { billedReadUnits, billedWriteUnits, grownBytes } from './billed-units.ts'

const item = (bytes: number, index?: string) => ({
  pk: { S: 'p' },
  sk: { S: 's' },
  ...(index === undefined ? {} : { gpk: { S: index }, gsk: { S: 's' } }),
  text: { S: 'x'.repeat(bytes - 10) },
})

describe('write units', () => {
  it.each([
    ['a new item of 1 KB', undefined, item(1024), 1],
    ['a new item of a byte more', undefined, item(1025), 2],
    ['an item that shrinks, by its size before', item(3000), item(100), 3],
    ['a deleted item', item(2048), undefined, 2],
    ['the deletion of a missing item', undefined, undefined, 1],
    ['a condition that does not hold, by the stored item', item(1500), item(1500), 2],
  ])('%s', (_what, before, after, units) => {
    expect(billedWriteUnits({ before, after }, false)).toBe(units)
    expect(billedWriteUnits({ before, after }, true)).toBe(2 * units)
  })

  it.each([
    ['a new entry', undefined, item(100, 'a'), 1],
    ['an entry with another key', item(100, 'a'), item(100, 'b'), 2],
    ['an entry that stays the same', item(100, 'a'), item(200, 'a'), 0],
    ['an entry that goes', item(100, 'a'), item(100), 1],
  ])('%s of the index is charged once, in a transaction as well', (_what, before, after, units) => {
    expect(billedWriteUnits({ before, after }, false)).toBe(1 + units)
    expect(billedWriteUnits({ before, after }, true)).toBe(2 + units)
  })
})

it.each([
  [0, 'eventual', 0.5],
  [4096, 'eventual', 0.5],
  [4097, 'eventual', 1],
  [4097, 'consistent', 2],
  [100, 'transaction', 2],
] as const)('a read of %d bytes, %s, costs %d units', (bytes, kind, units) => {
  expect(billedReadUnits(bytes, kind)).toBe(units)
})

it('the table grows by an item and its index entry, each with the overhead of DynamoDB', () => {
  const entryBytes = 'pk'.length + 1 + 'sk'.length + 1 + 'gpk'.length + 1 + 'gsk'.length + 1
  expect(grownBytes({ before: undefined, after: item(500) })).toBe(600)
  expect(grownBytes({ before: undefined, after: item(500, 'a') })).toBe(600 + 8 + 100 + entryBytes)
  expect(grownBytes({ before: item(500), after: undefined })).toBe(-600)
})
