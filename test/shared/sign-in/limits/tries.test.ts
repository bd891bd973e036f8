import { expect, test } from 'vitest'
import {
  attributesOf,
  countTries,
  expiredAttributes,
  secondsUntilBelow,
  tryAttribute,
} from '../../../../shared/sign-in/limits/tries.ts'

const minute = 60_000
const now = 1_790_000_000_000 - (1_790_000_000_000 % minute)

/** Makes an item with counts of tries, each so many minutes ago. */
const itemOf = (counter: string, ...tries: [minutesAgo: number, count: number][]) =>
  Object.fromEntries(
    tries.map(([ago, count]) => [tryAttribute(counter, now - ago * minute), { value: String(count) }]),
  )

test('tries count for an hour after the minute in which they were made', () => {
  const item = itemOf('a', [0, 1], [59, 2], [60, 4], [61, 8])
  expect(countTries(item, 'a', now)).toBe(7)
  expect(expiredAttributes(item, now)).toEqual([tryAttribute('a', now - 61 * minute)])
})

test('the counters of an item count apart', () => {
  const item = { ...itemOf('a', [0, 1]), ...itemOf('b', [0, 2]), pk: 'a@1', ttl: { value: '5' } }
  expect(countTries(item, 'a', now)).toBe(1)
  expect(countTries(item, 'b', now)).toBe(2)
  expect(attributesOf(item, 'b')).toEqual([tryAttribute('b', now)])
})

test.each([
  [[[0, 9]], 0],
  [[[0, 10]], 61 * 60],
  [[[30, 10]], 31 * 60],
  [
    [
      [50, 1],
      [20, 9],
    ],
    11 * 60,
  ],
  [
    [
      [50, 1],
      [20, 10],
    ],
    41 * 60,
  ],
] as [[number, number][], number][])(
  'with tries of %j minutes and numbers the next is in %i seconds',
  (tries, wait) => {
    expect(secondsUntilBelow(itemOf('a', ...tries), 'a', { limit: 10, now })).toBe(wait)
  },
)

test('an item that does not exist counts nothing', () => {
  expect(countTries(undefined, 'a', now)).toBe(0)
  expect(secondsUntilBelow(undefined, 'a', { limit: 1, now })).toBe(0)
})
