import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, expect, test, vi } from 'vitest'
import { callEndpoint } from '../../../support/call-endpoint.ts'
import { deliver } from '../../../support/deliver.ts'
import { emittedMetrics } from '../../../support/emitted-metrics.ts'
import { createUser } from '../../../support/sign-in.ts'

const { argon2 } = crypto

function replaceArgon2(replacement: unknown): void {
  Reflect.set(crypto, 'argon2', replacement)
  syncBuiltinESMExports()
  // The next import loads the functions again, as the init of a new Lambda environment does.
  vi.resetModules()
}

afterEach(() => replaceArgon2(argon2))

const fail = () => {
  throw new Error('Argon2 algorithm not supported')
}

test.each([undefined, fail])(
  'a sign-in by password answers 503 if Node.js has no argon2 (%s), but users can still be updated',
  async (replacement) => {
    const { email, password, userId } = await createUser()
    replaceArgon2(replacement)
    const login = await import('../../../../functions/user/login-with-password.ts')
    const metrics = await emittedMetrics(async () => {
      const answer = await callEndpoint(login.handler, { body: { email, login_password: password } })
      expect(answer).toMatchObject({ status: 503, code: 50300, headers: { 'retry-after': '60' } })
    })
    expect(metrics.map(({ name }) => name)).toContain('Faults')
    const update = await import('../../../../functions/intake/user.updated.ts')
    const detail = { update_id: `${userId}`, user_id: userId, at: Date.now(), nickname: 'another' }
    expect(await deliver(update.handler, detail)).toBe('done')
  },
)
