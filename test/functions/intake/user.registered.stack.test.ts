import { expect, test, vi } from 'vitest'
import { readUser } from '../../../shared/users/user.ts'
import { putEvent, waitForDeadLetter } from '../../support/bus.ts'
import { createUser, newRegistration } from '../../support/sign-in.ts'

const detailType = 'user.registered'

test('user.registered on the bus registers a user; the same key with other content becomes a dead letter', async () => {
  const detail = newRegistration()
  await putEvent(detailType, detail)
  const userId = Number(detail['user_id'])
  await vi.waitFor(async () => expect(await readUser(userId, { consistent: true })).toBeDefined(), {
    timeout: 20_000,
    interval: 50,
  })
  const other = { ...detail, nickname: 'Somebody else' }
  await putEvent(detailType, other)
  const letter = await waitForDeadLetter(detailType, String(userId))
  expect(letter.detail).toEqual(other)
  expect(letter.reason).toMatch(/^conflicting_content/)
  expect((await readUser(userId, { consistent: true }))?.nickname).toBe(detail['nickname'])
})

test('user.registered with another user’s email address becomes a dead letter at once', async () => {
  const { email } = await createUser()
  const detail = newRegistration({ email })
  await putEvent(detailType, detail)
  const letter = await waitForDeadLetter(detailType, String(detail['user_id']))
  expect(letter).toEqual({ detail, reason: expect.stringMatching(/^email_taken/) as string, refusals: '1' })
})

test.each([
  ['email', { email: 'nobody' }],
  ['login_password', { login_password: 'in plain text' }],
  ['totp_secret', { totp_secret: 'not base32!' }],
  ['registered_at', { registered_at: '2026-01-01' }],
  ['nickname', { nickname: 7 }],
])(
  'user.registered with a bad %s becomes a dead letter that names the field but does not quote it',
  async (field, bad) => {
    const detail = newRegistration(bad)
    await putEvent(detailType, detail)
    const { reason } = await waitForDeadLetter(detailType, String(detail['user_id']))
    expect(reason).toMatch(new RegExp(`^invalid_detail: ${field} `))
    expect(reason).not.toContain(String(Object.values(bad)[0]))
  },
)
