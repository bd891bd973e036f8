import { expect, it } from 'vitest'
import { prefers } from '../../../shared/http/prefers.ts'

it.each([
  'text/csv',
  'TEXT/CSV',
  'text/csv; charset=utf-8',
  'text/html, text/csv;q=0.5',
  'application/json;q=0.5, text/csv',
])('the Accept header %j prefers CSV to JSON', (accept) => {
  expect(prefers(accept, 'text/csv')).toBe(true)
})

it.each([
  undefined,
  '',
  '*/*',
  'application/json',
  'text/csv;q=0',
  'application/json, text/csv;q=0.5',
  'text/csvx',
])('the Accept header %j does not prefer CSV to JSON', (accept) => {
  expect(prefers(accept, 'text/csv')).toBe(false)
})
