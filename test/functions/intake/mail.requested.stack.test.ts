import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { putEvent, waitForDeadLetter } from '../../support/bus.ts'
import { readOutbox } from '../../support/local-stack.ts'
import { newUserId } from '../../support/sign-in.ts'

const request = (expiresAt: number) => ({
  mail_id: randomUUID(),
  kind: 'code',
  to: `mail-${newUserId()}@example.com`,
  code: '012345',
  expires_at: expiresAt,
})

test('mail.requested warns a user whose codes are being guessed, and says what to do', async () => {
  const { code, ...mail } = request(Date.now() + 600_000)
  await putEvent('mail.requested', { ...mail, kind: 'wrong_codes' })
  const [warning] = await vi.waitFor(async () => {
    const messages = await readOutbox(mail.to)
    expect(messages).toHaveLength(1)
    return messages
  }, 20_000)
  expect(warning?.text).toMatch(/change your password/)
  expect(warning?.text).not.toContain(code)
})

test('mail.requested with an expired code sends no mail and becomes a dead letter', async () => {
  const mail = request(Date.now() - 1)
  await putEvent('mail.requested', mail)
  expect((await waitForDeadLetter('mail.requested', mail.mail_id)).reason).toMatch(/^expired/)
  expect(await readOutbox(mail.to)).toEqual([])
})
