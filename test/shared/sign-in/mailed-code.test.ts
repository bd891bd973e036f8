import { expect, test } from 'vitest'
import { digestMailedCode, isMailedCode, newMailedCode } from '../../../shared/sign-in/mailed-code.ts'

test('codes are six digits, leading zeros included', () => {
  const codes = Array.from({ length: 2_000 }, newMailedCode)
  expect(codes.every((code) => /^\d{6}$/.test(code))).toBe(true)
  expect(codes.some((code) => code.startsWith('0'))).toBe(true)
})

test('a code fits the ticket that it was mailed for, and no other', () => {
  const digest = digestMailedCode('ticket', '012345')
  expect(digest).not.toContain('012345')
  expect(isMailedCode('ticket', '012345', digest)).toBe(true)
  expect(isMailedCode('another ticket', '012345', digest)).toBe(false)
})

test.each(['012346', '12345', '', '0123456'])('%j is not the code', (code) => {
  expect(isMailedCode('ticket', code, digestMailedCode('ticket', '012345'))).toBe(false)
})
