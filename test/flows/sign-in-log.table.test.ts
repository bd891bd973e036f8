import { expect, test, vi } from 'vitest'
import { sourceNetwork } from '../../shared/sign-in/limits/source.ts'
import { login, openTicket, verifyAuthenticator } from '../support/sign-in-calls.ts'
import { anotherCode, authenticatorCode, createUser, md5, newSourceIp } from '../support/sign-in.ts'

type Line = Record<string, unknown>

/** Runs a request, checks that no log line contains a secret, and returns the log line with the outcome. */
async function logged(run: () => Promise<unknown>, ...secrets: string[]): Promise<Line> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  let lines: string[]
  try {
    await run()
  } finally {
    lines = write.mock.calls.map(([text]) => String(text))
    write.mockRestore()
  }
  for (const secret of secrets) expect(lines.join('').toLowerCase()).not.toContain(secret.toLowerCase())
  const requests = lines.filter((text) => text.startsWith('{') && text.includes('"message":"request"'))
  expect(requests).toHaveLength(1)
  return JSON.parse(requests[0] ?? '') as Line
}

test('the log of a sign-in names outcome, user, session and network, but no address or secret', async () => {
  const user = await createUser()
  const sourceIp = newSourceIp()
  const source_network = sourceNetwork(sourceIp)
  const secrets = [user.email, user.password, user.totpSecret, md5('wrong')]

  const password = await logged(() => login({ ...user, password: md5('wrong') }, sourceIp), ...secrets)
  expect(password).toMatchObject({
    status: 401,
    failure: 'bad_credentials',
    user_id: user.userId,
    source_network,
  })
  expect(await logged(() => login(user, sourceIp), ...secrets)).toMatchObject({
    status: 200,
    user_id: user.userId,
    source_network,
  })

  const ticket = await openTicket(user)
  const code = await authenticatorCode(user.totpSecret)
  const verify = (sent: string) => () => verifyAuthenticator(user, ticket, sent, sourceIp)
  const wrong = anotherCode(anotherCode(code))
  const refused = await logged(verify(wrong), ...secrets, ticket, wrong)
  expect(refused).toMatchObject({
    status: 401,
    failure: 'bad_verification_code',
    user_id: user.userId,
    source_network,
  })
  expect(refused).not.toHaveProperty('session_id')
  expect(await logged(verify(code), ...secrets, ticket, code)).toMatchObject({
    status: 200,
    user_id: user.userId,
    session_id: expect.stringMatching(/^[\w-]{22}$/) as string,
    source_network,
  })
})

test('the log of a rate-limited sign-in names the limit that refused it', async () => {
  const user = await createUser()
  const sourceIp = newSourceIp()
  for (let i = 0; i < 10; i += 1) await login({ ...user, password: md5('wrong') }, sourceIp)
  const line = await logged(() => login(user, sourceIp), user.email)
  expect(line).toMatchObject({ failure: 'too_many_requests', limit: 'source', user_id: user.userId })
})

test('the log of a sign-in with an unknown email address names no user', async () => {
  const email = 'nobody-here@example.com'
  const line = await logged(() => login({ email, password: md5('wrong') }), email)
  expect(line).toMatchObject({ failure: 'bad_credentials' })
  expect(line).not.toHaveProperty('user_id')
})
