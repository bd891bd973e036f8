import * as v from 'valibot'
import { expect, it } from 'vitest'
import { Note } from '../../../shared/community/note.ts'

const vietnamese = 'Nguyễn Hữu Đức Thiện'

it('a note that a keyboard sends decomposed is stored composed', () => {
  expect(v.parse(Note, ` ${vietnamese.normalize('NFD')} `)).toBe(vietnamese.normalize('NFC'))
})

it('the length of a note is that of the composed text, in characters', () => {
  expect(vietnamese.normalize('NFD').length).toBeGreaterThan(20)
  expect(v.is(Note, vietnamese.normalize('NFD'))).toBe(true)
  expect(v.parse(Note, '🦊'.repeat(20))).toBe('🦊'.repeat(20))
})

it.each([
  ['21 characters', 'a'.repeat(21)],
  ['21 decomposed characters', 'e\u0301'.repeat(21)],
  ['a character that composition turns into two', '\u0958'.repeat(11)],
  ['a control character', 'a\u0085'],
  ['a zero-width space', 'a\u200b'],
])('a note with %s is refused', (_what, note) => {
  expect(v.is(Note, note)).toBe(false)
})
