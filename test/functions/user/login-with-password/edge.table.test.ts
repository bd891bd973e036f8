import { expect, it, vi } from 'vitest'
import { handler } from '../../../../functions/user/login-with-password.ts'
import { callEndpoint, type TestAnswer } from '../../../support/call-endpoint.ts'
import { createUser, md5, newSourceIp } from '../../../support/sign-in.ts'

/** The IP address of a CloudFront edge server, from which API Gateway gets the requests of many viewers. */
const edge = newSourceIp()

const login = (email: string, password: string, viewer: string): Promise<TestAnswer> =>
  callEndpoint(handler, {
    body: { email, login_password: password },
    sourceIp: edge,
    headers: { 'cloudfront-viewer-address': `${viewer}:443`, 'x-origin-secret': 'secret' },
  })

it('behind CloudFront, wrong passwords block their viewer, but no other of the edge server', async () => {
  vi.stubEnv('ORIGIN_SECRETS', 'secret')
  const { email, password } = await createUser()
  const [guesser, owner] = [newSourceIp(), newSourceIp()]
  for (let i = 1; i <= 9; i += 1)
    expect(await login(email, md5('a guess'), guesser)).toMatchObject({ status: 401, code: 40101 })
  expect(await login(email, md5('a guess'), guesser)).toMatchObject({ status: 429, code: 42900 })
  expect(await login(email, password, owner)).toMatchObject({ status: 200, code: 0 })
})
