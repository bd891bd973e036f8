import { expect, test } from 'vitest'
import { compilePattern } from '../../../../../infra/local/aws/eventbridge/pattern.ts'

const event = {
  source: 'shop',
  'detail-type': 'order.placed',
  resources: ['arn:a', 'arn:b'],
  detail: {
    amount: 12,
    state: 'open',
    paid: false,
    note: null,
    lines: [{ sku: 'x' }, { sku: 'y' }],
    nested: { deep: 'v' },
  },
}

test.each<[Record<string, unknown>, boolean]>([
  [{}, true],
  [{ source: ['shop'] }, true],
  [{ source: ['other', 'shop'] }, true],
  [{ source: ['Shop'] }, false],
  [{ source: ['shop'], 'detail-type': ['other'] }, false],
  [{ 'detail-type': [{ prefix: 'order.' }] }, true],
  [{ 'detail-type': [{ prefix: 'deposit.' }] }, false],
  [{ 'detail-type': [{ suffix: '.placed' }] }, true],
  [{ 'detail-type': [{ 'equals-ignore-case': 'ORDER.PLACED' }] }, true],
  [{ 'detail-type': [{ 'anything-but': 'order.placed' }] }, false],
  [{ 'detail-type': [{ 'anything-but': ['a', 'b'] }] }, true],
  [{ 'detail-type': [{ 'anything-but': { prefix: 'order.' } }] }, false],
  [{ resources: ['arn:b'] }, true],
  [{ resources: ['arn:c'] }, false],
  [{ detail: { state: ['open'] } }, true],
  [{ detail: { nested: { deep: ['v'] } } }, true],
  [{ detail: { nested: { deep: ['w'] } } }, false],
  [{ detail: { lines: { sku: ['y'] } } }, true],
  [{ detail: { amount: [12] } }, true],
  [{ detail: { amount: ['12'] } }, false],
  [{ detail: { amount: [{ numeric: ['>', 10, '<=', 12] }] } }, true],
  [{ detail: { amount: [{ numeric: ['<', 12] }] } }, false],
  [{ detail: { state: [{ numeric: ['=', 1] }] } }, false],
  [{ detail: { paid: [false] } }, true],
  [{ detail: { note: [null] } }, true],
  [{ detail: { state: [{ exists: true }] } }, true],
  [{ detail: { state: [{ exists: false }] } }, false],
  [{ detail: { absent: [{ exists: false }] } }, true],
  [{ detail: { absent: [{ exists: true }] } }, false],
  [{ detail: { absent: { deeper: [{ exists: false }] } } }, true],
  [{ detail: { absent: [{ 'anything-but': 'x' }] } }, false],
])('%j matches: %s', (pattern, matches) => {
  expect(compilePattern(pattern)(event)).toBe(matches)
})

test.each([
  { source: 'shop' },
  { $or: [{ source: ['shop'] }] },
  { source: [{ cidr: '10.0.0.0/8' }] },
  { source: [{ prefix: 1 }] },
  { detail: { amount: [{ numeric: ['~', 1] }] } },
  { detail: { amount: [{ numeric: [] }] } },
  { source: [{ prefix: 'a', suffix: 'b' }] },
])('%j is refused, since it could not be honoured', (pattern) => {
  expect(() => compilePattern(pattern)).toThrow(/event pattern/)
})
