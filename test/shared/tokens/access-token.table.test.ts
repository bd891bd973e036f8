import { randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import { ConditionFailed, transact } from '../../../shared/db/write.ts'
import {
  checkAccessToken,
  endSession,
  issueAccessToken,
  endAllSessions,
  requireLiveSession,
} from '../../../shared/tokens/access-token.ts'

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

it('ending all sessions revokes every token of the user', async () => {
  const userId = newUser()
  const sessions = [await signIn(userId), await signIn(userId)]
  await endAllSessions(userId)
  for (const { accessToken } of sessions) expect(await works(accessToken)).toBe(false)
})
