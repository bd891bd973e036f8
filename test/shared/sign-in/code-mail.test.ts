import { expect, test } from 'vitest'
import { composeCodeMail } from '../../../shared/sign-in/code-mail.ts'

const now = 1_700_000_000_000
const mail = (expires_at: number) =>
  composeCodeMail({ mail_id: 'm', to: 'alice@example.com', code: '012345', expires_at }, now)

test('the mail says the code, once, and not in its subject, which lock screens show', () => {
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
])('%i ms before it expires it promises %s', (left, words) => {
  expect(mail(now + left).text).toContain(words)
})
