import { expect, it } from 'vitest'
import { textCell } from '../../../shared/community/members-csv.ts'

it.each([
  'Ann',
  'Bob 2',
  '4ever',
  'a=b',
  'x@y',
  'May',
  'Marcus 1',
  'Aprilia',
  '5th',
  '',
  'a,"b"',
  'née',
  '👍',
])('leaves %j as it is', (text) => {
  expect(textCell(text)).toBe(text)
})

it.each([
  '=1+1',
  '+1',
  '-1',
  '@x',
  '\t=1+1',
  '\r=1+1',
  '\n=1+1',
  '＝1+1',
  '007',
  '1e5',
  '2026-01-02',
  '12:30',
  '5 pm',
  'MARCH1',
  '5 Mar 2024',
  'true',
  'FALSE',
])('keeps %j a text', (text) => {
  expect(textCell(text)).toBe(`'${text}`)
})

it('leaves out NUL, behind which a formula could hide', () => {
  expect(textCell('\0=1+1')).toBe("'=1+1")
  expect(textCell('a\0b')).toBe('ab')
})
