import { expect, it } from 'vitest'
import { prefers } from '../../../shared/http/prefers.ts'

it.each([
  ['text/csv', true],
  ['TEXT/CSV', true],
  ['text/csv; charset=utf-8', true],
  ['text/html, text/csv;q=0.5', true],
  ['application/json;q=0.5, text/csv', true],
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['application/json', false],
  ['text/csv;q=0', false],
  ['application/json, text/csv;q=0.5', false],
  ['text/csvx', false],
])('whether the Accept header %j prefers CSV to JSON: %s', (accept, prefersCsv) => {
  expect(prefers(accept, 'text/csv')).toBe(prefersCsv)
})
