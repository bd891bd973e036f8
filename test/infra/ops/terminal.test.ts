import { Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { decorate, showControls, type Tone, withoutControls } from '../../../infra/ops/terminal.ts'

it.each([
  ['an escape sequence', '\u001b[2Jx', String.raw`\u001b[2Jx`],
  ['a C1 control', 'a\u009b31m', String.raw`a\u009b31m`],
  ['a carriage return', 'done\rfail', String.raw`done\u000dfail`],
  ['a right-to-left override', 'a\u202eb', String.raw`a\u202eb`],
  ['a bidi isolate', 'a\u2066b', String.raw`a\u2066b`],
  ['a line separator', 'a\u2028b', String.raw`a\u2028b`],
  ['a tag character', 'a\u{e0041}b', String.raw`a\udb40\udc41b`],
  ['letters, box drawings and line feeds', 'née 奖励 █▀\n👍', 'née 奖励 █▀\n👍'],
])('only control characters are escaped in output: %s', (_what, text, shown) => {
  expect(showControls(text)).toBe(shown)
})

it('escaping control characters does not change the value of JSON', () => {
  const value = { source: '\u001b\u009b\u202e\u{e0041}\n' }
  const lines: string[] = []
  const terminal = { out: (text: string) => void lines.push(text), err: () => undefined }
  withoutControls({ ...terminal, readInput: async function* () {} }).out(JSON.stringify(value))
  expect(JSON.parse(lines.join())).toEqual(value)
  expect(lines.join()).toMatch(/^[ -~]*$/)
})

describe('decoration', () => {
  const screen = Object.assign(new Writable(), { isTTY: true, getColorDepth: () => 8 })
  const pipe = new Writable()

  it.each<[Tone, string, string]>([
    ['all well', 'All passed', '✔ All passed'],
    ['something wrong', '1 failed', '✘ 1 failed'],
    ['well', '  API  answers', '✔ API  answers'],
    ['wrong', '  mail  none', '✘ mail  none'],
    ['title', 'Passed', 'Passed'],
  ])(
    'on a screen, a line with the tone "%s" gets a mark and colour that keep its columns',
    (tone, text, shown) => {
      const line = decorate(text, tone, screen)
      expect(line).not.toBe(shown)
      expect(stripVTControlCharacters(line)).toBe(shown)
    },
  )

  it('in a pipe, a line gets neither mark nor colour', () => {
    for (const tone of ['all well', 'something wrong', 'well', 'wrong', 'title'] as const)
      expect(decorate('  API', tone, pipe)).toBe('  API')
  })
})
