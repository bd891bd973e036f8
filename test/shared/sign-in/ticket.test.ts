import { expect, test } from 'vitest'
import { composeCodeMail } from '../../../shared/sign-in/send-mail.ts'
import { newMailedCode } from '../../../shared/sign-in/ticket.ts'

test('mailed codes have six digits, leading zeros included', () => {
  const codes = Array.from({ length: 2_000 }, newMailedCode)
  expect(codes.every((code) => /^\d{6}$/.test(code))).toBe(true)
  expect(codes.some((code) => code.startsWith('0'))).toBe(true)
})

const now = 1_700_000_000_000
const mail = (expires_at: number) => composeCodeMail('012345', expires_at, now)

test('a mail has the code once in its text, but not in its subject, which lock screens show', () => {
  const { subject, text } = mail(now + 600_000)
  expect(text.match(/\d{6}/g)).toEqual(['012345'])
  expect(subject).not.toMatch(/\d/)
})

test.each([
  [600_000, '10 minutes'],
  [580_000, '10 minutes'],
  [90_000, '2 minutes'],
  [60_000, '1 minute,'],
  [1_000, '1 minute,'],
])('a mail that is sent %i ms before its code expires gives the time left as %s', (left, words) => {
  expect(mail(now + left).text).toContain(words)
})
