import * as v from 'valibot'
import { expect, it } from 'vitest'
import { Integer, TableNumber } from '../../../shared/db/table.ts'

it.each([null, undefined, 5, '5', {}, { value: 5 }, { value: null }])(
  '%j is no number of the table',
  (value) => {
    expect(v.is(TableNumber, value)).toBe(false)
  },
)

it.each([
  ['0', true],
  ['-7', true],
  ['9007199254740991', true],
  ['9007199254740992', false],
  ['1.5', false],
])('%s is a whole number: %s', (value, isWhole) => {
  expect(v.is(Integer, { value })).toBe(isWhole)
})
