import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { type Pkce, putClient } from '../../shared/oauth/client.ts'
import { transact } from '../../shared/db/write.ts'
import { putSignInRecord } from '../../shared/sign-in/record.ts'
import { putUser } from '../../shared/registration/register.ts'
import { macClientSecret } from '../../shared/oauth/client-authentication.ts'
import { issueAccessToken } from '../../shared/tokens/access-token.ts'
import { type Scope, scopes as everyScope } from '../../shared/tokens/scopes.ts'
import { createAccessToken } from './community.ts'
import { markSecret } from './mark-secret.ts'

/** A registered client together with its secret. */
export interface TestClient {
  clientId: string
  redirectUri: string
  secret?: string
}

/** Registers a new client for a test; by default public, for every scope, with one redirect URI. */
export async function createClient(
  overrides: {
    redirectUris?: string[]
    secret?: string
    scopes?: Scope[]
    pkce?: Pkce
    postLogoutRedirectUris?: string[]
  } = {},
): Promise<TestClient> {
  const clientId = `client-${randomUUID()}`
  const redirectUris = overrides.redirectUris ?? ['https://client.example/callback']
  await transact([
    putClient({
      clientId,
      name: 'a client of a test',
      redirectUris,
      scopes: overrides.scopes ?? [...everyScope],
      secretMac:
        overrides.secret === undefined ? undefined : await macClientSecret(clientId, overrides.secret),
      pkce: overrides.pkce ?? 'required',
      postLogoutRedirectUris: overrides.postLogoutRedirectUris,
      updatedAt: Date.now(),
    }),
  ])
  const redirectUri = redirectUris[0] ?? ''
  return { clientId, redirectUri, ...(overrides.secret === undefined ? {} : { secret: overrides.secret }) }
}

/** A user who has signed in by the password flow. */
export interface SignedIn {
  userId: number
  email: string
  nickname: string
  sessionId: string
  accessToken: string
  /** When the session expires, epoch milliseconds. */
  expiresAt: number
}

/** Adds a new user for a test, with a session that starts now or started some time ago. */
export async function createSession(lifeSeconds = 3600, signedInSecondsAgo = 0): Promise<SignedIn> {
  const userId = randomInt(1_000_000, 2 ** 47)
  const email = `user-${userId}@example.com`
  const nickname = `User ${userId}`
  const now = Date.now()
  const expiresAt = now + lifeSeconds * 1000
  const { accessToken, sessionId, put } = issueAccessToken({
    userId,
    clientId: 'first-party',
    scopes: everyScope,
    firstParty: true,
    expiresAt,
    authenticatedAt: now - signedInSecondsAgo * 1000,
  })
  const user = putUser({ userId, email, nickname, referrerId: undefined, registeredAt: now })
  await transact([user, putSignInRecord(userId, { email, nickname }), put])
  await markSecret(accessToken)
  return { userId, email, nickname, sessionId, accessToken, expiresAt }
}

/** Issues a client's access_token for the user of a session. */
export const issueClientToken = (
  { userId, sessionId }: SignedIn,
  { clientId }: TestClient,
): Promise<string> => createAccessToken(userId, ['openid', 'email'], { clientId, sessionId })

/** Creates a PKCE verifier and its S256 challenge. */
export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** Builds a valid authorization request; a parameter that is overridden with undefined is omitted. */
export function authorizationRequest(
  client: TestClient,
  overrides: Record<string, string | undefined> = {},
): Record<string, string> {
  const parameters: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    scope: 'openid profile email',
    state: 'af0ifjsldkj',
    nonce: 'n-0S6_WzA2Mj',
    code_challenge: pkce().challenge,
    code_challenge_method: 'S256',
    ...overrides,
  }
  return Object.fromEntries(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** Builds the token request that exchanges an authorization code of a client. */
export const exchangeRequest = (
  { clientId, redirectUri, secret }: TestClient,
  code: string,
  verifier: string,
): Record<string, string> => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: redirectUri,
  client_id: clientId,
  code_verifier: verifier,
  ...(secret === undefined ? {} : { client_secret: secret }),
})

/** Copies request parameters, except for those with these names. */
export const without = (parameters: Record<string, string>, ...names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.includes(name)))

/** Builds the Authorization header that presents an access_token. */
export const bearer = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` })

/** Builds the Authorization header with which a confidential client authenticates (RFC 6749 §2.3.1). */
export const basic = (clientId: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`,
})
