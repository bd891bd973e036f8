import { expect, test } from 'vitest'
import { transact } from '../../../../shared/db/write.ts'
import { checkAccessToken, issueAccessToken } from '../../../../shared/tokens/access-token.ts'
import { readDerivingSession } from '../../../../shared/tokens/session.ts'
import { createUser, update } from '../../../support/sign-in.ts'

test('once a user is disabled, none of 1,200 derived access_tokens works, and no further access_token can be derived', async () => {
  const { userId } = await createUser()
  const grant = {
    userId,
    expiresAt: Date.now() + 600_000,
    authenticatedAt: Date.now(),
    scopes: ['openid'] as const,
  }
  const sessions = Array.from({ length: 12 }, () => {
    const own = issueAccessToken({ ...grant, clientId: 'first-party', firstParty: true, derived: 99 })
    const { sessionId } = own
    const derived = Array.from({ length: 100 }, (_, i) =>
      issueAccessToken({ ...grant, sessionId, clientId: 'app', firstParty: false, derived: i }),
    )
    const named = { ...grant, sessionId, sessionKey: own.key, sessionExpiresAt: grant.expiresAt }
    return { tokens: [own, ...derived], named }
  })
  for (const { tokens } of sessions)
    for (const some of [tokens.slice(0, 51), tokens.slice(51)]) await transact(some.map(({ put }) => put))
  const count = async (attempts: Promise<unknown>[]) =>
    (await Promise.allSettled(attempts)).filter(({ status }) => status === 'fulfilled').length
  const working = () =>
    count(
      sessions.flatMap(({ tokens }) => tokens).map((token) => checkAccessToken(token.accessToken, 'openid')),
    )
  expect(await working()).toBe(1_212)
  await update({ user_id: userId, disabled: true })
  expect(await working()).toBe(0)
  const derive = async ({ named }: (typeof sessions)[number]) =>
    transact((await readDerivingSession(named)).writes)
  expect(await count(sessions.map(derive))).toBe(0)
})
