import SparkMD5 from 'spark-md5'
import { post } from './api.ts'

export type Method = 'EMAIL' | 'AUTHENTICATOR' | 'PASSKEY'

/** What the password opened: one chance to give the second factor. */
export interface Ticket {
  loginTicket: string
  maskedEmail: string
  methods: Method[]
}

/** A user who has given both factors. */
export interface Account {
  accessToken: string
  userId: string
  email: string
  /** Epoch milliseconds at which the sign-in ends. */
  expire: number
}

/** Checks the password, which leaves the device as its MD5 only. */
export async function checkPassword(email: string, password: string): Promise<Ticket> {
  const data = await post<{ login_ticket: string; email: string; two_factor_methods: Method[] }>(
    '/user/login-with-password',
    { email, login_password: SparkMD5.hash(password) },
  )
  return { loginTicket: data.login_ticket, maskedEmail: data.email, methods: data.two_factor_methods }
}

/** Gives the second factor and uses the ticket up. */
export async function checkCode(
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

/** Tells the service what the user decided; returns the address to go to. Throws where the request was not acceptable. */
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

/** Ends the user's session on the service. */
export async function signOut({ accessToken, userId }: Account): Promise<void> {
  await post('/user/logout', { id: userId }, accessToken)
}

/** The `sub` of a token that has just come from its issuer: read, not verified. */
function subjectOf(deviceToken: string): string {
  const payload = (deviceToken.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0))
  return (JSON.parse(new TextDecoder().decode(bytes)) as { sub: string }).sub
}
