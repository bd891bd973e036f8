import { expect, test } from 'vitest'
import { foldCase } from '../../shared/fold-case.ts'

test.each([
  ['STRASSE', 'Straße'],
  ['STRASSE', 'STRAẞE'],
  ['IŞIK', 'Işık'],
  ['IŞIK', 'ışık'],
  ['istanbul', 'İstanbul'],
  ['ISTANBUL', 'i̇stanbul'],
  ['ΟΔΟΣ', 'οδος'],
  ['οδοσ', 'οδος'],
  ["O'NEIL", 'O’Neil'],
  ["o'neil", 'Oʼneil'],
  ['ﬁ', 'FI'],
  ['ŉ', 'ʼN'],
  ['ǰ', 'J\u030c'],
  ['ᾳ', 'ΑΙ'],
  ['Ꭰ', 'ꭰ'],
  ['K', '\u212a'],
  ['É', 'e\u0301'],
  ['１２', '12'],
])('%j and %j are one text without regard to case', (one, other) => {
  expect(foldCase(one)).toBe(foldCase(other))
})

test.each([
  ['a', 'ä'],
  ['i', 'í'],
  ['ı', 'l'],
  ['ss', 's'],
  ['z\u0307', 'z'],
])('%j and %j are two texts', (one, other) => {
  expect(foldCase(one)).not.toBe(foldCase(other))
})

test('a folded text is not changed by folding it again', () => {
  for (let code = 0; code < 0x30000; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue
    const folded = foldCase(String.fromCodePoint(code))
    if (foldCase(folded) !== folded) expect.unreachable(`U+${code.toString(16)}`)
  }
})
