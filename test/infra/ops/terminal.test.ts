import { expect, it } from 'vitest'
import { formatTable, showControls, withoutControls } from '../../../infra/ops/terminal.ts'

it.each([
  ['an escape sequence', '\u001b[2Jx', String.raw`\u001b[2Jx`],
  ['a C1 control', 'a\u009b31m', String.raw`a\u009b31m`],
  ['a carriage return', 'done\rfail', String.raw`done\u000dfail`],
  ['a right-to-left override', 'a\u202eb', String.raw`a\u202eb`],
  ['a bidi isolate', 'a\u2066b', String.raw`a\u2066b`],
  ['a line separator', 'a\u2028b', String.raw`a\u2028b`],
  ['a tag character', 'a\u{e0041}b', String.raw`a\udb40\udc41b`],
  ['letters, box drawings and line feeds', 'née 奖励 █▀\n👍', 'née 奖励 █▀\n👍'],
])('%s reaches the terminal', (_what, text, shown) => {
  expect(showControls(text)).toBe(shown)
})

it('a cell of a table begins a line of its own', () => {
  expect(formatTable(['A', 'B'], [['x\nuser 1  admin', 'y']])).toBe(
    'A                     B\nx\\u000auser 1  admin  y',
  )
})

it('JSON with control characters stays the same JSON', () => {
  const value = { source: '\u001b\u009b\u202e\u{e0041}\n' }
  const lines: string[] = []
  const terminal = { out: (text: string) => void lines.push(text), err: () => undefined }
  withoutControls({ ...terminal, readInput: async function* () {} }).out(JSON.stringify(value))
  expect(JSON.parse(lines.join())).toEqual(value)
  expect(lines.join()).toMatch(/^[ -~]*$/)
})
