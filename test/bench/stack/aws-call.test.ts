import { expect, it } from 'vitest'
import { longestChain } from './aws-call.ts'

const call = ([startedAt, endedAt]: readonly [number, number]) => ({ startedAt, endedAt })

it.each([
  ['no call', [], 0],
  [
    'two at the same time',
    [
      [0, 5],
      [1, 6],
    ],
    1,
  ],
  [
    'two after each other',
    [
      [0, 5],
      [5, 10],
    ],
    2,
  ],
  [
    'two at the same time, then one',
    [
      [0, 5],
      [1, 6],
      [7, 9],
    ],
    2,
  ],
  [
    'a long one beside two short ones',
    [
      [0, 20],
      [1, 5],
      [6, 10],
    ],
    2,
  ],
  [
    'in any order',
    [
      [7, 9],
      [0, 5],
    ],
    2,
  ],
] as const)('the longest chain of %s is counted', (_what, calls, length) => {
  expect(longestChain(calls.map(call))).toBe(length)
})
