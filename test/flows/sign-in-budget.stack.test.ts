import { expect, test } from 'vitest'
import { forgetCachedKeySet } from '../../shared/keys/sign.ts'
import { measureCalls } from '../support/measure-calls.ts'
import { mailedCode } from '../support/outbox.ts'
import { openTicket, verifyAuthenticator, verifyMailed } from '../support/sign-in-calls.ts'
import { authenticatorCode, createUser, type TestUser } from '../support/sign-in.ts'

const kms = ['GenerateMac', 'Decrypt', 'Sign']

test.each([
  [
    'an authenticator',
    async (user: TestUser, ticket: string) =>
      verifyAuthenticator(user, ticket, await authenticatorCode(user.totpSecret)),
  ],
  [
    'a mailed code',
    async (user: TestUser, ticket: string) => verifyMailed(user, ticket, await mailedCode(user.email)),
  ],
])(
  'a sign-in by password and %s stays within its budget of AWS calls, even without a cached signing key',
  async (_what, verify) => {
    const user = await createUser()
    forgetCachedKeySet()
    const { names, writeUnits } = await measureCalls(async () => {
      expect((await verify(user, await openTicket(user))).code).toBe(0)
    })
    expect(names.filter((name) => !kms.includes(name)).length).toBeLessThanOrEqual(8)
    expect(names.filter((name) => name === 'Sign')).toHaveLength(1)
    expect(writeUnits).toBeGreaterThan(0)
    expect(writeUnits).toBeLessThanOrEqual(10)
  },
)
