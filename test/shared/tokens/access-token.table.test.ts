import { randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import { transact } from '../../../shared/db/write.ts'
import { checkAccessToken, endAllSessions, issueAccessToken } from '../../../shared/tokens/access-token.ts'

it('an access_token works once it is written, for its own scopes, until its generation ends', async () => {
  const userId = randomInt(2 ** 47)
  const now = Date.now()
  const issue = async (generation: number) => {
    const grant = { userId, clientId: 'first-party', expiresAt: now + 60_000, authenticatedAt: now }
    const token = issueAccessToken({ ...grant, scopes: ['openid', 'email'], firstParty: true, generation })
    await transact([token.put])
    return token
  }
  const { accessToken, sessionId, key } = await issue(0)
  expect(await checkAccessToken(accessToken, 'first-party')).toMatchObject({ userId, sessionId, key })
  await expect(checkAccessToken(accessToken, 'account.read')).rejects.toMatchObject({
    failure: 'insufficient_scope',
  })
  await transact([endAllSessions(userId)])
  const next = await issue(1)
  for (const scope of ['openid', 'first-party'] as const) {
    await expect(checkAccessToken(accessToken, scope)).rejects.toMatchObject({ failure: 'unauthenticated' })
    expect((await checkAccessToken(next.accessToken, scope)).sessionId).toBe(next.sessionId)
  }
})
