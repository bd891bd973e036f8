import { randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import { ConditionFailed, transact } from '../../../shared/db/write.ts'
import {
  checkAccessToken,
  endSession,
  issueAccessToken,
  endAllSessions,
  revokeToken,
  revokeTokenByKey,
  requireLiveSession,
} from '../../../shared/tokens/access-token.ts'
import { userKey } from '../../../shared/users/user.ts'

const newUser = () => randomInt(2 ** 47)

async function signIn(userId: number, expiresAt = Date.now() + 60_000) {
  const grant = { userId, clientId: 'first-party', expiresAt, authenticatedAt: Date.now() }
  const token = issueAccessToken({ ...grant, scopes: ['openid', 'email'], firstParty: true })
  await transact([token.put])
  const derive = async () => {
    const { sessionId } = token
    const derived = issueAccessToken({
      ...grant,
      sessionId,
      clientId: 'app',
      scopes: ['openid'],
      firstParty: false,
    })
    await transact([derived.put, requireLiveSession(token)])
    return derived
  }
  return { ...token, derive }
}

const works = (token: string) =>
  checkAccessToken(token, 'openid').then(
    () => true,
    () => false,
  )

it('an access_token works once it is written, for its own scopes only', async () => {
  const userId = newUser()
  const { accessToken, sessionId, key } = await signIn(userId)
  expect(await checkAccessToken(accessToken, 'first-party')).toMatchObject({ userId, sessionId, key })
  await expect(checkAccessToken(accessToken, 'account.read')).rejects.toMatchObject({
    failure: 'insufficient_scope',
  })
})

it('an access_token is in another partition than its user’s profile, which read endpoints may read', () => {
  const { key } = issueAccessToken({
    userId: 7,
    clientId: 'app',
    scopes: [],
    firstParty: false,
    expiresAt: 1,
    authenticatedAt: 1,
  })
  expect(key.pk).not.toBe(userKey(7).pk)
})

it('ending a session revokes its derived tokens and no other session', async () => {
  const userId = newUser()
  const [ended, other] = [await signIn(userId), await signIn(userId)]
  const derived = await Promise.all(Array.from({ length: 30 }, ended.derive))
  await endSession(userId, ended.sessionId)
  for (const { accessToken } of [ended, ...derived]) expect(await works(accessToken)).toBe(false)
  expect(await works(other.accessToken)).toBe(true)
})

it('no access_token can be derived from an ended or expired session', async () => {
  const userId = newUser()
  const ended = await signIn(userId)
  await endSession(userId, ended.sessionId)
  await expect(ended.derive()).rejects.toThrow(ConditionFailed)
  await expect((await signIn(userId, Date.now() - 1)).derive()).rejects.toThrow(ConditionFailed)
})

it('no access_token that is derived while its session ends survives', async () => {
  const userId = newUser()
  const session = await signIn(userId)
  const derived = Promise.allSettled(Array.from({ length: 40 }, () => session.derive()))
  await endSession(userId, session.sessionId)
  for (const result of await derived) {
    if (result.status === 'fulfilled') expect(await works(result.value.accessToken)).toBe(false)
  }
})

it('revoking a derived token revokes it alone, and revoking the sign-in’s token ends the session', async () => {
  const session = await signIn(newUser())
  const [first, second, third] = [await session.derive(), await session.derive(), await session.derive()]
  await revokeToken(first.accessToken, 'app')
  await revokeTokenByKey(second.key, 'app')
  expect(await Promise.all([first, second, third].map((t) => works(t.accessToken)))).toEqual([
    false,
    false,
    true,
  ])
  await revokeToken(session.accessToken, 'first-party')
  expect(await works(third.accessToken)).toBe(false)
})

it.each(['', 'at_', 'at_1.x.y', 'text'])(
  'revoking text that is not a token does nothing: %j',
  async (text) => {
    await expect(revokeToken(text, 'app')).resolves.toBeUndefined()
  },
)

it('ending all sessions revokes every token of the user', async () => {
  const userId = newUser()
  const sessions = [await signIn(userId), await signIn(userId)]
  await endAllSessions(userId)
  for (const { accessToken } of sessions) expect(await works(accessToken)).toBe(false)
})
