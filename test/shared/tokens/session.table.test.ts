import { randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import { transact } from '../../../shared/db/write.ts'
import { retry } from '../../../shared/retry.ts'
import {
  checkAccessToken,
  endAllSessions,
  issueAccessToken,
  tokenDigest,
  tokenKey,
} from '../../../shared/tokens/access-token.ts'
import {
  endSession,
  type NamedSession,
  readDerivingSession,
  revokeDerived,
  revokeToken,
  SessionChanged,
} from '../../../shared/tokens/session.ts'
import { actWhile, tamperCalls } from '../../support/tamper-calls.ts'

const newUser = () => randomInt(2 ** 47)

async function signIn(
  userId: number,
  { firstParty = true, expiresAt = Date.now() + 60_000, derived = 0 } = {},
) {
  const grant = { userId, clientId: 'first-party', expiresAt, authenticatedAt: Date.now() }
  const token = issueAccessToken({ ...grant, scopes: ['openid'], firstParty, derived })
  await transact([token.put])
  const named: NamedSession = {
    userId: userId,
    sessionId: token.sessionId,
    sessionDigest: tokenDigest(token.accessToken),
    sessionExpiresAt: expiresAt,
    authenticatedAt: grant.authenticatedAt,
  }
  return { ...token, named }
}

/** Derives an access_token from this session, as the exchange of an authorization code does. */
const derive = (named: NamedSession): Promise<string> =>
  retry(
    async () => {
      const { generation, next: derived, writes } = await readDerivingSession(named)
      const { accessToken, put } = issueAccessToken({
        userId: named.userId,
        sessionId: named.sessionId,
        clientId: 'app',
        scopes: ['openid'],
        firstParty: false,
        expiresAt: Date.now() + 60_000,
        authenticatedAt: named.authenticatedAt,
        generation,
        derived,
      })
      await transact([...writes, put])
      return accessToken
    },
    (error) => error instanceof SessionChanged,
  )

const works = (token: string) =>
  checkAccessToken(token, 'openid').then(
    () => true,
    () => false,
  )

/** Ways to forge an authorization code: each `forge` changes what the code says about its session. */
const forgeries: [what: string, forge: (own: NamedSession) => NamedSession | Promise<NamedSession>][] = [
  ['another user', (own) => ({ ...own, userId: own.userId + 1 })],
  [
    'another session’s token',
    async (own) => ({ ...own, sessionDigest: (await signIn(own.userId)).named.sessionDigest }),
  ],
  [
    'a token of which only the table was read',
    async (own) => {
      const other = await signIn(own.userId)
      return { ...other.named, sessionDigest: other.key.sk.split('#').at(-1) ?? '' }
    },
  ],
  ['another session’s id', async (own) => ({ ...own, sessionId: (await signIn(own.userId)).sessionId })],
  ['a later expiry', (own) => ({ ...own, sessionExpiresAt: own.sessionExpiresAt + 1 })],
  ['a later sign-in', (own) => ({ ...own, authenticatedAt: own.authenticatedAt + 1 })],
  ['an expired session', async (own) => (await signIn(own.userId, { expiresAt: Date.now() - 1 })).named],
  ['a client’s token', async (own) => (await signIn(own.userId, { firstParty: false })).named],
  [
    'an ended session',
    async (own) => {
      await endSession(own.userId, own.sessionId)
      return own
    },
  ],
  [
    'a session of an ended generation',
    async (own) => {
      await transact([endAllSessions(own.userId)])
      return own
    },
  ],
]

it.each(forgeries)('a forged authorization code for %s gives no access_token', async (_what, forge) => {
  const { named } = await signIn(newUser())
  expect(await works(await derive(named))).toBe(true)
  await expect(derive(await forge(named))).rejects.toMatchObject({ failure: 'invalid_grant' })
})

it('no access_token is derived from a session if the session ends during the derivation', async () => {
  for (const isGeneration of [true, false]) {
    const { named } = await signIn(newUser())
    const { writes } = await readDerivingSession(named)
    if (isGeneration) await transact([endAllSessions(named.userId)])
    else await endSession(named.userId, named.sessionId)
    await expect(transact(writes)).rejects.toMatchObject({ failure: 'invalid_grant' })
  }
})

it('if an access_token is derived while its session ends, the token does not work afterwards', async () => {
  const { named } = await signIn(newUser())
  const derived: string[] = []
  const deriveOne = async () => derived.push(await derive(named))
  await actWhile('is answered', 'QueryCommand', deriveOne, () => endSession(named.userId, named.sessionId))
  expect(await Promise.all(derived.map(works))).toEqual([false])
})

it('of more than 100 derived access_tokens of a session, the oldest end', async () => {
  const userId = newUser()
  const { accessToken, sessionId, named } = await signIn(userId, { derived: 99 })
  const grant = { userId, sessionId, clientId: 'app', firstParty: false, authenticatedAt: Date.now() }
  const old = Array.from({ length: 99 }, (_, i) =>
    issueAccessToken({ ...grant, scopes: ['openid'], expiresAt: Date.now() + 60_000, derived: i + 1 }),
  )
  await transact(old.map(({ put }) => put))
  const further = await Promise.all([derive(named), derive(named), derive(named)])
  const derived = [...old.map((token) => token.accessToken), ...further]
  const alive = await Promise.all(derived.map(works))
  expect(alive.filter(Boolean)).toHaveLength(100)
  expect(alive.slice(0, 3)).toEqual([false, false, true])
  await endSession(userId, sessionId)
  expect((await Promise.all([accessToken, ...derived].map(works))).filter(Boolean)).toEqual([])
})

it.each([
  ['session', true],
  ['client’s token', false],
])('a revocation that cannot end a %s fails, so that the client can repeat it', async (_what, firstParty) => {
  const { accessToken } = await signIn(newUser(), { firstParty })
  const { restore } = tamperCalls(({ name, perform }) =>
    /Delete|Write/.test(name) ? Promise.reject(new Error('the table refuses')) : perform(),
  )
  try {
    await expect(revokeToken(accessToken, 'first-party')).rejects.toThrow('the table refuses')
  } finally {
    restore()
  }
})

it.each([
  ['another client', { clientId: 'other' }],
  ['another user', { userId: 1 }],
])('a derived token is not revoked in the name of %s', async (_what, change) => {
  const { named } = await signIn(newUser())
  const token = await derive(named)
  await revokeDerived(tokenKey(token), { ...named, clientId: 'app', ...change })
  expect(await works(token)).toBe(true)
  await revokeDerived(tokenKey(token), { ...named, clientId: 'app' })
  expect(await works(token)).toBe(false)
})
