import { expect, it } from 'vitest'
import { itemBytes } from './item-bytes.ts'

it.each([
  ['a text', { a: { S: 'é' } }, 1 + 2],
  ['a number', { a: { N: '-120.50' } }, 1 + 2 + 1],
  ['zero', { a: { N: '0' } }, 1 + 1],
  ['a number with an exponent', { a: { N: '1.5E+20' } }, 1 + 1 + 1],
  ['bytes of the SDK', { a: { B: new Uint8Array(5) } }, 1 + 5],
  ['a boolean', { a: { BOOL: true } }, 1 + 1],
  ['null', { a: { NULL: true } as const }, 1 + 1],
  ['a set of texts', { a: { SS: ['ab', 'c'] } }, 1 + 3],
  ['a list', { a: { L: [{ S: 'ab' }, { N: '1' }] } }, 1 + 3 + (1 + 2) + (1 + 2)],
  ['a map', { a: { M: { b: { S: 'cd' } } } }, 1 + 3 + (1 + 1 + 2)],
  ['an empty map', { a: { M: {} } }, 1 + 3],
])('%s in an item has the size that DynamoDB bills', (_what, item, bytes) => {
  expect(itemBytes(item)).toBe(bytes)
})

it('bytes as they are in a request have the size that DynamoDB bills', () => {
  expect(itemBytes({ a: { B: 'AAECAw==' as unknown as Uint8Array } })).toBe(1 + 4)
})
