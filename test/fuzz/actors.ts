import { randomBytes } from 'node:crypto'
import { handler as registered } from '../../functions/intake/user.registered.ts'
import { handler as updated } from '../../functions/intake/user.updated.ts'
import { depositPools } from '../../infra/local/demo/demo-events.ts'
import { demoUsers } from '../../infra/local/demo/demo-users.ts'
import { depositId } from '../../shared/deposits/deposit.ts'
import { transact } from '../../shared/db/write.ts'
import { issueCode } from '../../shared/oauth/authorization-code.ts'
import { issueAccessToken } from '../../shared/tokens/access-token.ts'
import { type Scope, scopes as everyScope } from '../../shared/tokens/scopes.ts'
import { applyEvent } from '../support/apply-event.ts'
import { addLoginTicket } from '../support/login-tickets.ts'
import { createClient, pkce, type TestClient } from '../support/oauth-clients.ts'
import { authenticatorCode, createUser, md5, type TestUser } from '../support/sign-in.ts'
import type { Grant } from './judge-caller.ts'

/** The demo application, whose redirect URI the requests use. */
export const demoClient: TestClient = { clientId: 'demo-app', redirectUri: 'http://127.0.0.1:4000/callback' }

/** Alice, who has everything that a user can have, and who makes most requests. */
export const alice: TestUser = {
  userId: demoUsers[0]?.user_id ?? 0,
  email: demoUsers[0]?.email ?? '',
  password: md5('correct horse battery'),
  totpSecret: demoUsers[0]?.totp_secret ?? '',
}

/** The ids of Alice's deposits, in the order of infra/local/demo/demo-events.ts. */
export const depositIds = [0, 0, 1, 1].map((pool, index) =>
  depositId({
    network: depositPools[pool]?.network ?? '',
    txid: `demo-transaction-${index + 1}`,
    outputIndex: 0,
  }),
)

/** The grants of all access_tokens that were issued here, and whose the deposits are. */
export const register = {
  grants: new Map<string, Grant>(),
  owners: new Map(depositIds.map((id) => [id, alice.userId])),
}

/** Issues an access_token; by default one of Alice's own sign-ins, for two hours. */
export async function issueToken(
  changes: { userId?: number; clientId?: string; scopes?: readonly Scope[]; lifeSeconds?: number } = {},
) {
  const {
    userId = alice.userId,
    clientId = 'first-party',
    scopes = everyScope,
    lifeSeconds = 7_200,
  } = changes
  const grant = { userId, clientId, scopes, expiresAt: Date.now() + lifeSeconds * 1000 }
  const firstParty = clientId === 'first-party'
  const issued = issueAccessToken({ ...grant, firstParty, authenticatedAt: Date.now() })
  await transact([issued.put])
  register.grants.set(issued.accessToken, { ...grant, firstParty })
  return { ...issued, expiresAt: grant.expiresAt }
}

/** The texts by which a request names who makes it: users in several states, tokens of several kinds. */
export interface Actors {
  /** Values of the header Authorization that let a request through, by their scopes. */
  callers: string[]
  /** Values of the header Authorization that do not, or not everywhere. */
  strangers: string[]
  tokens: string[]
  emails: string[]
  confidential: Required<TestClient>
}

const disabled = { user_id: 900_001, email: 'disabled@fuzz.example', nickname: 'Disabled' }
const bare = { user_id: 900_002, email: 'bare@fuzz.example', nickname: 'No Password' }

/** Registers users who sign in, one who is disabled, and one without a password. */
export async function registerUsers(): Promise<void> {
  while (signingIn.length < 20) signingIn.push(await createUser())
  for (const user of [{ ...disabled, login_password: alice.password }, bare])
    await applyEvent(registered, { ...user, registered_at: 1_700_000_000_000 })
  await applyEvent(updated, { update_id: 'fuzz-1', user_id: 900_001, at: Date.now(), disabled: true })
}

/** Creates new tokens and clients: requests may end sessions. */
export async function createActors(): Promise<Actors> {
  const secret = randomBytes(24).toString('hex')
  const confidential = { ...(await createClient({ secret, redirectUris: [demoClient.redirectUri] })), secret }
  const own = await Promise.all(demoUsers.slice(0, 5).map(({ user_id: userId }) => issueToken({ userId })))
  const [nobody, expired, narrow, ofClient, other] = await Promise.all([
    issueToken({ userId: bare.user_id }),
    issueToken({ lifeSeconds: -10 }),
    issueToken({ clientId: 'demo-app', scopes: ['openid'] }),
    issueToken({ clientId: 'demo-app' }),
    issueToken({ clientId: confidential.clientId, scopes: ['openid', 'email'] }),
  ])
  const unknown = issueAccessToken({
    userId: alice.userId,
    clientId: 'first-party',
    scopes: everyScope,
    firstParty: true,
    expiresAt: 0,
    authenticatedAt: 0,
  }).accessToken
  const alices = own[0]?.accessToken ?? ''
  const bearer = (token: string) => `Bearer ${token}`
  const tokens = [...own, nobody].map(({ accessToken }) => accessToken)
  const others = [expired, narrow, ofClient, other].map(({ accessToken }) => accessToken)
  return {
    callers: [...Array.from({ length: 6 }, () => bearer(alices)), ...tokens.map(bearer), `bEARER ${alices}`],
    strangers: [
      ...[...others, unknown].map(bearer),
      ...['', 'Bearer', 'Bearer ', `Bearer  ${alices}`, `Bearer ${alices} ${alices}`, `Token ${alices}`],
      ...[
        `Bearer ${alices}x`,
        `Bearer ${alices.slice(0, -1)}`,
        'Basic Og==',
        'Basic %%%',
        'Basic ZGVtby1hcHA6',
      ],
      `Bearer at_zzzzzzzzzzz.${'A'.repeat(22)}.${'A'.repeat(43)}`,
      `Basic ${Buffer.from(`${confidential.clientId}:${secret}`).toString('base64')}`,
    ],
    tokens: [...tokens, ...others, unknown],
    emails: [alice.email, ...demoUsers.slice(1, 4).map(({ email }) => email), disabled.email, bare.email],
    confidential,
  }
}

/** Users who get login tickets: several, because twenty wrong codes in an hour lock a second factor. */
const signingIn: TestUser[] = []
let signIns = 0

async function newCode(): Promise<Record<string, string>> {
  const { verifier, challenge } = pkce()
  const { key, sessionId, expiresAt } = await issueToken()
  const { code, put } = issueCode({
    user_id: alice.userId,
    session_id: sessionId,
    session_key: key,
    session_expires_at: expiresAt,
    authenticated_at: Date.now(),
    client_id: demoClient.clientId,
    redirect_uri: demoClient.redirectUri,
    code_challenge: challenge,
    scopes: ['openid', 'email', 'profile'],
    expires_at: Date.now() + 60_000,
  })
  await transact([put])
  return { ZZcodeZZ: code, ZZverifierZZ: verifier }
}

async function newTicket(): Promise<Record<string, string>> {
  signIns += 1
  const user = signingIn[signIns % signingIn.length] ?? alice
  const ticket = await addLoginTicket(user, '123456')
  return { ZZticketZZ: ticket, ZZemailZZ: user.email, ZZtotpZZ: await authenticatorCode(user.totpSecret) }
}

const newSession = async () => ({ ZZsessionZZ: (await issueToken()).accessToken })

/** One-time values, by the placeholders that stand for them: each request with one gets a new one. */
export const oneTimeValues: readonly [placeholder: RegExp, make: () => Promise<Record<string, string>>][] = [
  [/ZZ(code|verifier)ZZ/, newCode],
  [/ZZ(ticket|email|totp)ZZ/, newTicket],
  [/ZZsessionZZ/, newSession],
]
