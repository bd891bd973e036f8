import { expect, it } from 'vitest'
import { formatResult, formatTable, showControls, withoutControls } from '../../../infra/ops/terminal.ts'

it.each([
  ['an escape sequence', '\u001b[2Jx', String.raw`\u001b[2Jx`],
  ['a C1 control', 'a\u009b31m', String.raw`a\u009b31m`],
  ['a carriage return', 'done\rfail', String.raw`done\u000dfail`],
  ['a right-to-left override', 'a\u202eb', String.raw`a\u202eb`],
  ['a bidi isolate', 'a\u2066b', String.raw`a\u2066b`],
  ['a line separator', 'a\u2028b', String.raw`a\u2028b`],
  ['a tag character', 'a\u{e0041}b', String.raw`a\udb40\udc41b`],
  ['letters, box drawings and line feeds', 'née 奖励 █▀\n👍', 'née 奖励 █▀\n👍'],
])('control characters are escaped in output, and harmless text is unchanged: %s', (_what, text, shown) => {
  expect(showControls(text)).toBe(shown)
})

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

it('escaping control characters does not change the value of JSON', () => {
  const value = { source: '\u001b\u009b\u202e\u{e0041}\n' }
  const lines: string[] = []
  const terminal = { out: (text: string) => void lines.push(text), err: () => undefined }
  withoutControls({ ...terminal, readInput: async function* () {} }).out(JSON.stringify(value))
  expect(JSON.parse(lines.join())).toEqual(value)
  expect(lines.join()).toMatch(/^[ -~]*$/)
})
