import * as v from 'valibot'
import { expect, it } from 'vitest'
import { BusinessKey, CurrencyFilter, Day, PlainText, SpacedName, Text, UserId } from '../../shared/fields.ts'

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
  ['one with a zero-width joiner at its end', 'a\u200d'],
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

it.each([1, '1', 1002, '1002', 2 ** 53 - 1, String(2 ** 53 - 1), '9007199254740989', '8999999999999999'])(
  'the user id %j is accepted',
  (id) => {
    expect(v.parse(UserId, id)).toBe(Number(id))
  },
)

it.each([
  0,
  -1,
  1.5,
  2 ** 53,
  '0',
  '01',
  ' 1',
  '1.0',
  '9007199254740992',
  '9999999999999999',
  null,
  Infinity,
])('the user id %j is refused', (id) => {
  expect(v.is(UserId, id)).toBe(false)
})

it.each(['a', 0, 2 ** 53 - 1, '9007199254740993', '~'.repeat(200)])('a business key may be %j', (key) => {
  expect(v.parse(BusinessKey, key)).toBe(String(key))
})

// Numbers of 2^53 or more are refused, because two different ones could be read as the same id.
it.each([2 ** 53, 1.5, '', 'a b', 'é', '~'.repeat(201), null])('a business key may not be %j', (key) => {
  expect(v.is(BusinessKey, key)).toBe(false)
})

it.each(['0001-01-01', '2024-02-29', '9999-12-31'])('%s is accepted as a day', (day) => {
  expect(v.is(Day, day)).toBe(true)
})

it.each(['0000-01-01', '2026-02-29', '2026-13-01', '2026-01-00', '10000-01-01', '2026-1-1', ''])(
  '%j is not a valid day',
  (day) => {
    expect(v.is(Day, day)).toBe(false)
  },
)

it.each([
  ['a', true],
  ['😀'.repeat(3), true],
  ['', false],
  ['aaaa', false],
])('a text field counts its length in code points: %j', (text, fits) => {
  expect(v.is(Text(3), text)).toBe(fits)
})

it.each([' ', 'BONUS ', ' BONUS', 'A\u3000B', 'A\u00a0B', 'A\u2003B'])(
  'a spaced name is refused with space at an end or wide space: %j',
  (name) => {
    expect(v.is(SpacedName(64), name)).toBe(false)
  },
)

it.each([
  ['usdt', 'USDT'],
  ['BTC.b', 'BTC.B'],
  ['u\u017fdt', 'U\u017fDT'],
  ['\u0131', '\u0131'],
])('a currency filter converts only ASCII letters to upper case: %s', (sent, filter) => {
  expect(v.parse(CurrencyFilter, sent)).toBe(filter)
})
