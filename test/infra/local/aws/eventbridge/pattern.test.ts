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
  [{ resources: ['arn:b'] }, true],
  [{ resources: ['arn:c'] }, false],
  [{ detail: { state: ['open'] } }, true],
  [{ detail: { nested: { deep: ['v'] } } }, true],
  [{ detail: { nested: { deep: ['w'] } } }, false],
  [{ detail: { lines: { sku: ['y'] } } }, true],
  [{ detail: { amount: [12] } }, true],
  [{ detail: { amount: ['12'] } }, false],
  [{ detail: { paid: [false] } }, true],
  [{ detail: { note: [null] } }, true],
  [{ source: [{ 'anything-but': 'shop' }] }, false],
  [{ source: [{ 'anything-but': ['stall', 'kiosk'] }] }, true],
  [{ source: [{ 'anything-but': ['stall', 'shop'] }] }, false],
  [{ missing: [{ 'anything-but': ['shop'] }] }, false],
  [{ source: [{ exists: true }] }, true],
  [{ source: [{ exists: false }] }, false],
  [{ missing: [{ exists: false }] }, true],
  [{ detail: { missing: { deep: [{ exists: false }] } } }, true],
  [{ detail: { missing: { deep: ['v'] } } }, false],
  [{ $or: [{ source: ['stall'] }, { 'detail-type': ['order.placed'] }] }, true],
  [{ $or: [{ source: ['stall'] }, { 'detail-type': ['order.sent'] }] }, false],
  [{ source: ['stall'], $or: [{ source: ['shop'] }, { 'detail-type': ['order.placed'] }] }, false],
])('the event pattern %j matches the sample order: %s', (pattern, matches) => {
  expect(compilePattern(pattern)(event)).toBe(matches)
})

test.each([
  { source: 'shop' },
  { $or: [{ source: ['shop'] }] },
  { $or: { source: ['shop'] } },
  { $or: [{ source: ['shop'] }, 'x'] },
  { $and: [{ source: ['shop'] }] },
  { source: [{ cidr: '10.0.0.0/8' }] },
  { source: [{ suffix: '.placed' }] },
  { source: [{ 'anything-but': { prefix: 'shop' } }] },
  { source: [{ 'anything-but': [] }] },
  { source: [{ exists: 'no' }] },
  { detail: { amount: [{ numeric: ['>', 1] }] } },
  { source: [{ prefix: 1 }] },
  { source: [{ prefix: 'a', suffix: 'b' }] },
])('the event pattern %j, which is not emulated, is rejected', (pattern) => {
  expect(() => compilePattern(pattern)).toThrow(/event pattern/)
})
