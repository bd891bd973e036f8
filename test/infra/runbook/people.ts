import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { authenticatorCode, createUser, type TestUser } from '../../support/sign-in.ts'

/** An answer of the API to a step of a sign-in. */
export interface Answer {
  status: number
  retryAfter: string | null
  data: Record<string, string>
}

/** What somebody who has signed in holds. */
export interface Session {
  user: TestUser
  accessToken: string
  deviceToken: string
}

/** What people and other services do with a stack, over HTTP. */
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
  const bearer = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` })

  const sendPassword = ({ email, password }: TestUser) =>
    post('/user/login-with-password', { email, login_password: password })

  const sendCode = (user: TestUser, ticket: string | undefined, code: string) =>
    post('/user/login/2fa', {
      email: user.email,
      login_ticket: ticket,
      method: 'AUTHENTICATOR',
      authenticator_code: code,
    })

  /** Both steps of a sign-in; the answer to the second one. */
  const tryToSignIn = async (user: TestUser): Promise<Answer> => {
    const { data } = await sendPassword(user)
    return sendCode(user, data['login_ticket'], await authenticatorCode(user.totpSecret))
  }

  /** Signs somebody in; a new user unless told, since a code of the authenticator works once. */
  const signIn = async (whom?: TestUser): Promise<Session> => {
    const user = whom ?? (await createUser())
    const { status, data } = await tryToSignIn(user)
    if (status !== 200) throw new Error(`the sign-in was answered ${status}`)
    return { user, accessToken: data['access_token'] ?? '', deviceToken: data['device_token'] ?? '' }
  }

  /** Whether a service that has just fetched the key set takes a device_token. */
  const isTaken = async (deviceToken: string): Promise<boolean> => {
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
    isTaken,
    logOut: ({ accessToken, user }: Session) =>
      post('/user/logout', { id: String(user.userId) }, bearer(accessToken)),
    /** Status of a signed-in read. */
    read: async (accessToken: string) =>
      (await fetch(`${baseUrl}/account/info`, { headers: bearer(accessToken) })).status,
  }
}

export type People = ReturnType<typeof peopleOf>

/** kid of the key that signed a device_token. */
export const kidOf = (deviceToken: string): string => decodeProtectedHeader(deviceToken).kid ?? ''
