import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { bearer } from '../../support/oauth-clients.ts'
import { authenticatorCode, createUser, type TestUser } from '../../support/sign-in.ts'

/** The API's answer to a step of the password sign-in. */
export interface Answer {
  status: number
  retryAfter: string | null
  data: Record<string, string>
}

/** A signed-in user with their tokens. */
export interface Session {
  user: TestUser
  accessToken: string
  deviceToken: string
}

/** Actions over HTTP of users, and of services that verify device_tokens. */
export function peopleOf(baseUrl: string) {
  const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const { data } = (await response.json()) as { data: Record<string, string> | null }
    return { status: response.status, retryAfter: response.headers.get('retry-after'), data: data ?? {} }
  }

  const sendPassword = ({ email, password }: TestUser) =>
    post('/user/login-with-password', { email, login_password: password })

  const sendCode = (user: TestUser, ticket: string | undefined, code: string) =>
    post('/user/login/2fa', {
      email: user.email,
      login_ticket: ticket,
      method: 'AUTHENTICATOR',
      authenticator_code: code,
    })

  /** Runs both steps of the password sign-in, and resolves with the answer to the second. */
  const tryToSignIn = async (user: TestUser): Promise<Answer> => {
    const { data } = await sendPassword(user)
    return sendCode(user, data['login_ticket'], await authenticatorCode(user.totpSecret))
  }

  /** Signs a user in. Default: a new user, because an authenticator code can be used only once. */
  const signIn = async (existing?: TestUser): Promise<Session> => {
    const user = existing ?? (await createUser())
    const { status, data } = await tryToSignIn(user)
    if (status !== 200) throw new Error(`the sign-in was answered ${status}`)
    return { user, accessToken: data['access_token'] ?? '', deviceToken: data['device_token'] ?? '' }
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
    sendPassword,
    sendCode,
    tryToSignIn,
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
