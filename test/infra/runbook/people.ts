import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { bearer } from '../../support/oauth-clients.ts'
import { authenticatorCode, createUser, type TestUser } from '../../support/sign-in.ts'

/** A signed-in user with their tokens. */
export interface Session {
  user: TestUser
  accessToken: string
  deviceToken: string
}

/** Creates functions that act as users of the service, and as other servers that verify device_tokens. */
export function peopleOf(baseUrl: string) {
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    if (response.status !== 200) throw new Error(`${path} was answered ${response.status}`)
    return ((await response.json()) as { data: Record<string, string> }).data
  }

  /** Signs in a user; by default a new user, because each authenticator code can be used only once. */
  const signIn = async (existing?: TestUser): Promise<Session> => {
    const user = existing ?? (await createUser())
    const { email, password: login_password } = user
    const { login_ticket } = await post('/user/login-with-password', { email, login_password })
    const authenticator_code = await authenticatorCode(user.totpSecret)
    const second = { email, login_ticket, method: 'AUTHENTICATOR', authenticator_code }
    const tokens = await post('/user/login/2fa', second)
    return { user, accessToken: tokens['access_token'] ?? '', deviceToken: tokens['device_token'] ?? '' }
  }

  /** Whether a device_token verifies with the currently published JWKS. */
  const verifies = async (deviceToken: string): Promise<boolean> => {
    const keys = createRemoteJWKSet(new URL(`${baseUrl}/.well-known/jwks.json`))
    return jwtVerify(deviceToken, keys, { issuer: baseUrl, algorithms: ['RS256'] }).then(
      () => true,
      () => false,
    )
  }

  return {
    signIn,
    verifies,
    logOut: ({ accessToken, user }: Session) =>
      post('/user/logout', { id: String(user.userId) }, bearer(accessToken)),
    /** Requests the user's data with this access_token, and returns the HTTP status. */
    read: async (accessToken: string) =>
      (await fetch(`${baseUrl}/account/info`, { headers: bearer(accessToken) })).status,
  }
}

export type People = ReturnType<typeof peopleOf>

/** Reads the kid of the key that signed a device_token. */
export const kidOf = (deviceToken: string): string => decodeProtectedHeader(deviceToken).kid ?? ''
