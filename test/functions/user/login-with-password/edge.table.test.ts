import '../../../support/quick-argon2.ts'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { handler } from '../../../../functions/user/login-with-password.ts'
import { callEndpoint, type TestAnswer } from '../../../support/call-endpoint.ts'
import { createUser, md5, newSourceIp, type TestUser } from '../../../support/sign-in.ts'

/** The address of an edge, from which API Gateway sees the requests of many viewers. */
const edge = newSourceIp()

let user: TestUser
beforeAll(async () => {
  user = await createUser()
})
beforeEach(() => void vi.stubEnv('ORIGIN_SECRETS', 'secret'))
afterEach(() => void vi.unstubAllEnvs())

const login = (viewer: string, password: string, secret = 'secret'): Promise<TestAnswer> =>
  callEndpoint(handler, {
    body: { email: user.email, login_password: password },
    sourceIp: edge,
    headers: { 'cloudfront-viewer-address': `${viewer}:443`, 'x-origin-secret': secret },
  })

it('behind the edge, wrong passwords block the viewer who sent them, and nobody else behind the same edge', async () => {
  const [guesser, owner] = [newSourceIp(), newSourceIp()]
  for (let i = 1; i <= 9; i += 1)
    expect(await login(guesser, md5('a guess'))).toMatchObject({ status: 401, code: 40101 })
  expect(await login(guesser, md5('a guess'))).toMatchObject({ status: 429, code: 42900 })
  expect(await login(owner, user.password)).toMatchObject({ status: 200, code: 0 })
})

it('a request that did not come through the edge is no try, whichever viewer it claims to be', async () => {
  const owner = newSourceIp()
  for (let i = 1; i <= 12; i += 1)
    expect(await login(owner, md5('a guess'), 'guessed')).toMatchObject({ status: 403, code: 40301 })
  expect(await login(owner, user.password)).toMatchObject({ status: 200, code: 0 })
})

it('without an edge, a guesser cannot change the source address by a header', async () => {
  vi.unstubAllEnvs()
  for (let i = 1; i <= 9; i += 1) await login(newSourceIp(), md5('a guess'))
  expect(await login(newSourceIp(), md5('a guess'))).toMatchObject({ status: 429 })
})
