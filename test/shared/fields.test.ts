import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { PlainText } from '../../shared/fields.ts'

describe('a plain text', () => {
  it.each([
    'a',
    ' ',
    'two words',
    'R#USDT#x',
    '__proto__',
    'é',
    '奖励',
    '𝒳'.repeat(8),
    "it's <b>",
    'עברית',
    'हिन्दी',
  ])('a plain text field accepts %j', (text) => {
    expect(v.parse(PlainText(12), text)).toBe(text)
  })

  it.each([
    ['empty', ''],
    ['longer than the limit in code points', '𝒳'.repeat(13)],
    ['no text', 7],
    ['not in normalization form C', 'e\u0301'],
    ['one with a line feed', 'a\nb'],
    ['one with a NUL', 'a\0'],
    ['one with a C1 control', 'a\u0085b'],
    ['one with a line separator', 'a\u2028b'],
    ['one with a zero-width space', 'a\u200bb'],
    ['one with a zero-width joiner', 'a\u200db'],
    ['one with a byte order mark', '\ufeffa'],
    ['one with a soft hyphen', 'a\u00adb'],
    ['one with a Hangul filler', 'a\u3164'],
    ['one with a right-to-left override', 'a\u202eb'],
    ['one with a right-to-left mark', 'a\u200fb'],
    ['one with a bidi isolate', 'a\u2066b'],
    ['one with an unpaired surrogate', 'a\ud800'],
  ])('a plain text field refuses a text that is %s', (_what, text) => {
    expect(v.is(PlainText(12), text)).toBe(false)
  })
})
