import * as v from 'valibot'
import { expect, it } from 'vitest'
import { Note } from '../../../shared/community/note.ts'

it.each([
  ['', ''],
  ['   ', ''],
  [' met in Lisbon\u3000', 'met in Lisbon'],
  ['met \u2764\ufe0f', 'met \u2764\ufe0f'],
  ['x'.repeat(20), 'x'.repeat(20)],
  [`  ${'x'.repeat(20)}  `, 'x'.repeat(20)],
  // Each of these is two units of UTF-16, but one code point.
  ['👍'.repeat(20), '👍'.repeat(20)],
  ['𠮷'.repeat(20), '𠮷'.repeat(20)],
])('a note of at most twenty code points after trimming is taken: %j', (sent, note) => {
  expect(v.parse(Note, sent)).toBe(note)
})

it.each([
  'x'.repeat(21),
  '👍'.repeat(21),
  // One letter with its accents, as a person sees it.
  'e\u0301'.repeat(11),
  '\ud83d',
  'a\0b',
  'a\nb',
  'a\n',
  'a\u202eb',
  'a\ufeff',
  7,
  null,
])('a longer note, and what is no text, is refused: %j', (sent) => {
  expect(v.is(Note, sent)).toBe(false)
})
