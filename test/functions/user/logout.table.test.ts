import { expect, test } from 'vitest'
import { handler } from '../../../functions/user/logout.ts'
import { transact } from '../../../shared/db/write.ts'
import { issueAccessToken } from '../../../shared/tokens/access-token.ts'
import { callEndpoint } from '../../support/call-endpoint.ts'
import { bearer } from '../../support/oauth-clients.ts'
import { newUserId } from '../../support/sign-in.ts'
import { runAndDieAt } from '../../support/tamper-calls.ts'

/** Opens a session for a user, or issues a further token for an existing session. */
async function openSession(
  userId: number,
  options: { sessionId?: string; firstParty?: boolean; after?: string } = {},
) {
  const now = Date.now()
  const issue = () =>
    issueAccessToken({
      userId,
      sessionId: options.sessionId,
      clientId: 'a-client',
      scopes: ['openid'],
      firstParty: options.firstParty ?? true,
      expiresAt: now + 60_000,
      authenticatedAt: now,
    })
  let issued = issue()
  while (issued.key.sk < (options.after ?? '')) issued = issue()
  const { accessToken, sessionId, key, put } = issued
  await transact([put])
  return { accessToken, sessionId, sk: key.sk }
}

const logout = (token: string, body: unknown) => callEndpoint(handler, { body, headers: bearer(token) })

test('logout ends the session and every token derived from it, but no other session', async () => {
  const userId = newUserId()
  const [here, elsewhere] = await Promise.all([openSession(userId), openSession(userId)])
  const derived = await openSession(userId, { sessionId: here.sessionId, firstParty: false })
  const id = String(userId)
  expect(await logout(here.accessToken, { id })).toMatchObject({ status: 200, code: 0, data: null })
  for (const { accessToken } of [here, derived])
    expect(await logout(accessToken, { id })).toMatchObject({ status: 401, code: 40100 })
  expect((await logout(elsewhere.accessToken, { id })).code).toBe(0)
})

test('if a logout crashes at any AWS call, repeating it leaves no token that works', async () => {
  let died = true
  for (let call = 1; died; call += 1) {
    const userId = newUserId()
    const id = String(userId)
    const { accessToken, sessionId, sk } = await openSession(userId)
    // The logout must delete the derived token first, although the session's own token sorts before it.
    const derived = await openSession(userId, { sessionId, firstParty: false, after: sk })
    died = await runAndDieAt(() => logout(accessToken, { id }), call, true)
    await logout(accessToken, { id })
    for (const token of [accessToken, derived.accessToken])
      expect(await logout(token, { id }), `after call ${call}`).toMatchObject({ status: 401 })
  }
})

test.each([
  ['the id of another user', '1'],
  ['an id that is not a number', 'me'],
  ['a leading zero in the id', (id: string) => `0${id}`],
])('logout with %s is refused, and the session continues', async (_what, id) => {
  const userId = newUserId()
  const { accessToken } = await openSession(userId)
  const sent = typeof id === 'string' ? id : id(String(userId))
  const answer = await logout(accessToken, { id: sent })
  expect(answer).toMatchObject({ status: 403, code: 40301, data: null })
  expect(answer.headers['www-authenticate']).toBe('Bearer error="insufficient_scope"')
  expect((await logout(accessToken, { id: String(userId) })).code).toBe(0)
})

test.each([[{}], [{ id: '' }], [{ id: 7 }], [{ id: null }], [{ id: '1'.repeat(41) }]])(
  'logout refuses the invalid body %j',
  async (body) => {
    const { accessToken } = await openSession(newUserId())
    expect(await logout(accessToken, body)).toMatchObject({ status: 400, code: 40001 })
  },
)

test('logout refuses a client’s access_token', async () => {
  const userId = newUserId()
  const { accessToken } = await openSession(userId, { firstParty: false })
  const answer = await logout(accessToken, { id: String(userId) })
  expect(answer).toMatchObject({ status: 403, code: 40300 })
  expect(answer.headers['www-authenticate']).toBe('Bearer error="insufficient_scope"')
})
