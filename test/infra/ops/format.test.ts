import { expect, it } from 'vitest'
import { formatInstant, formatResult, formatTable } from '../../../infra/ops/format.ts'

it('a line feed in a cell of a table does not begin a new line', () => {
  expect(formatTable([{ a: 'x\nuser 1  admin', b_c: null }, { a: 'z' }])).toBe(
    'A                     B C\nx\\u000auser 1  admin  -\nz                     -',
  )
})

it('a result is shown as lines and tables, with instants in UTC', () => {
  const keys = [
    { kid: 'one', active_at: Date.UTC(2026, 10, 23), rest: { of: 1 }, may_sign_milliseconds: 63_000 },
  ]
  expect(formatResult({ ok: true, next_due: null, none: [], keys })).toBe(
    [
      'ok        true',
      'next_due  -',
      'none      []',
      '',
      'keys',
      'KID  ACTIVE AT             REST      MAY SIGN',
      'one  2026-11-23 00:00:00Z  {"of":1}  1 min 3 s',
    ].join('\n'),
  )
})

it('an instant that is no date, as in an edited record, is shown as a number', () => {
  expect(formatInstant(8_640_000_000_000_001)).toBe('8640000000000001 ms')
  expect(formatInstant(Number.NaN)).toBe('NaN ms')
})
