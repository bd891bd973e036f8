import SparkMD5 from 'spark-md5'
import { post } from './api.ts'

/** A method for the second factor. */
export type Method = 'EMAIL' | 'AUTHENTICATOR' | 'PASSKEY'

/** The result of the first step, with which the second factor can be sent. */
export interface Ticket {
  loginTicket: string
  maskedEmail: string
  methods: Method[]
}

/** A signed-in user. */
export interface Account {
  accessToken: string
  userId: string
  email: string
  /** When the sign-in expires, epoch milliseconds. */
  expire: number
}

/** Sends email and password. Only the MD5 of the password leaves the device. */
export async function checkPassword(email: string, password: string): Promise<Ticket> {
  const data = await post<{ login_ticket: string; email: string; two_factor_methods: Method[] }>(
    '/user/login-with-password',
    { email, login_password: SparkMD5.hash(password) },
  )
  return { loginTicket: data.login_ticket, maskedEmail: data.email, methods: data.two_factor_methods }
}

/** Sends the second factor, which uses the ticket up. */
export async function sendSecondFactor(
  email: string,
  { loginTicket }: Ticket,
  method: Method,
  code: string,
): Promise<Account> {
  const data = await post<{ access_token: string; device_token: string; expire: number; email: string }>(
    '/user/login/2fa',
    {
      email,
      login_ticket: loginTicket,
      method,
      ...(method === 'AUTHENTICATOR' ? { authenticator_code: code } : { validate_code: code }),
    },
  )
  return {
    accessToken: data.access_token,
    userId: subjectOf(data.device_token),
    email: data.email,
    expire: data.expire,
  }
}

/** Sends the user's decision and returns the address to open next. Throws an ApiFailure. */
export async function sendDecision(
  { accessToken }: Account,
  parameters: Record<string, string>,
  approved: boolean,
): Promise<string> {
  const data = await post<{ redirect_to: string }>(
    '/oauth2/authorize/consent',
    { ...parameters, approved },
    accessToken,
  )
  return data.redirect_to
}

/** Ends the user's session. */
export async function signOut({ accessToken, userId }: Account): Promise<void> {
  await post('/user/logout', { id: userId }, accessToken)
}

/** The `sub` of a device_token. It came directly from its issuer, so it is not verified. */
function subjectOf(deviceToken: string): string {
  const payload = (deviceToken.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0))
  return (JSON.parse(new TextDecoder().decode(bytes)) as { sub: string }).sub
}
