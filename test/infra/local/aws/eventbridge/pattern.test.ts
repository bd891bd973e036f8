import { expect, test } from 'vitest'
import { compilePattern } from '../../../../../infra/local/aws/eventbridge/pattern.ts'

const event = {
  source: 'shop',
  'detail-type': 'order.placed',
  resources: ['arn:a', 'arn:b'],
  detail: {
    amount: 12,
    lines: [{ sku: 'x' }, { sku: 'y' }],
    nested: { deep: 'v' },
  },
}

test.each<[Record<string, unknown>, boolean]>([
  [{ source: ['shop'] }, true],
  [{ source: ['other', 'shop'] }, true],
  [{ source: ['shop'], 'detail-type': ['other'] }, false],
  [{ resources: ['arn:b'] }, true],
  [{ resources: ['arn:c'] }, false],
  [{ detail: { nested: { deep: ['v'] } } }, true],
  [{ detail: { nested: { deep: ['w'] } } }, false],
  [{ detail: { lines: { sku: ['y'] } } }, true],
  [{ detail: { amount: ['12'] } }, false],
  [{ source: [{ 'anything-but': ['stall', 'kiosk'] }] }, true],
  [{ source: [{ 'anything-but': ['stall', 'shop'] }] }, false],
  [{ missing: [{ 'anything-but': ['shop'] }] }, false],
  [{ source: [{ 'anything-but': { wildcard: 's*p' } }] }, false],
  [{ source: [{ 'anything-but': { wildcard: 'shop*y' } }] }, true],
  [{ missing: [{ 'anything-but': { wildcard: 'shop' } }] }, false],
  [{ 'detail-type': [{ prefix: 'order.' }] }, true],
  [{ 'detail-type': [{ prefix: 'placed' }] }, false],
  [{ 'detail-type': [{ suffix: '.placed' }] }, true],
  [{ 'detail-type': [{ suffix: 'order' }] }, false],
  [{ detail: { amount: [{ prefix: '1' }] } }, false],
  [{ source: [{ exists: true }] }, true],
  [{ source: [{ exists: false }] }, false],
  [{ missing: [{ exists: false }] }, true],
  [{ detail: { missing: { deep: [{ exists: false }] } } }, true],
  [{ detail: { missing: { deep: ['v'] } } }, false],
  [{ $or: [{ source: ['stall'] }, { 'detail-type': ['order.placed'] }] }, true],
  [{ $or: [{ source: ['stall'] }, { 'detail-type': ['order.sent'] }] }, false],
  [{ source: ['stall'], $or: [{ source: ['shop'] }, { 'detail-type': ['order.placed'] }] }, false],
])('for the sample event order.placed, the pattern %j gives %s', (pattern, matches) => {
  expect(compilePattern(pattern)(event)).toBe(matches)
})

test.each([
  { source: 'shop' },
  { $or: [{ source: ['shop'] }] },
  { $and: [{ source: ['shop'] }] },
  { source: [{ cidr: '10.0.0.0/8' }] },
  { source: [{ 'anything-but': { prefix: 'shop' } }] },
  { source: [{ 'anything-but': [] }] },
  { source: [{ exists: 'no' }] },
  { source: [{ exists: true, 'anything-but': 'a' }] },
])('the event pattern %j, which is not emulated, is rejected', (pattern) => {
  expect(() => compilePattern(pattern)).toThrow(/event pattern/)
})
