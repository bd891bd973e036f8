import { expect, test } from 'vitest'
import { putEvent, waitForDeadLetter } from '../../support/bus.ts'
import { newRegistration } from '../../support/sign-in.ts'

const detailType = 'user.registered'

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
