import { expect, test } from 'vitest'
import { readCode } from '../../../infra/authorization-page/read-code.ts'

test.each([
  ['123456', 'plain'],
  [' 123 456\n', 'with spaces'],
  ['123-456', 'with a dash'],
  ['123–456', 'with a typographic dash'],
  ['１２３４５６', 'in full width'],
  ['\u200b123\u200d456\ufeff', 'with zero-width characters'],
  ['\u200e123456\u2069', 'with direction marks'],
  ['123456.', 'with the full stop of the sentence'],
  ['123456.\u200f ', 'with a full stop before a mark'],
  ['１２３４５６。', 'with an ideographic full stop'],
])('the code %j is read as its six digits: %s', (typed) => {
  expect(readCode(typed)).toBe('123456')
})

test.each(['12345', '1234567', '12345a', '123.456', '.123456', '123456!'])(
  '%j is not read as a code of six digits',
  (typed) => {
    expect(readCode(typed)).not.toMatch(/^\d{6}$/)
  },
)
