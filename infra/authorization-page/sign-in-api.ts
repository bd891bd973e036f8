import SparkMD5 from 'spark-md5'
import { get, post } from './api.ts'
import type { AuthorizationRequest, SentRequest } from './authorization-request.ts'

/** A method for the second factor. */
export type Method = 'EMAIL' | 'AUTHENTICATOR' | 'PASSKEY'

/** The result of the password step: the login ticket to send together with the second factor. */
export interface Ticket {
  loginTicket: string
  maskedEmail: string
  methods: Method[]
}

/** A signed-in user with their access_token. */
export interface Account {
  accessToken: string
  userId: string
  email: string
  /** When the access_token expires, epoch milliseconds. */
  expire: number
}

/** Requests the app's name and scopes from the service. Throws an ApiFailure if the request is invalid. */
export async function checkRequest(sent: SentRequest): Promise<AuthorizationRequest> {
  const query = new URLSearchParams(sent.parameters).toString()
  const data = await get<{ client_name: string; scope: string }>(`/oauth2/authorize/request?${query}`)
  return { ...sent, clientName: data.client_name, scopes: data.scope.split(' ') }
}

/**
 * Sends the email address and the MD5 of the password, and returns the login ticket. The password itself does
 * not leave the device.
 */
export async function checkPassword(email: string, password: string): Promise<Ticket> {
  const data = await post<{ login_ticket: string; email: string; two_factor_methods: Method[] }>(
    '/user/login-with-password',
    { email, login_password: SparkMD5.hash(password) },
  )
  return { loginTicket: data.login_ticket, maskedEmail: data.email, methods: data.two_factor_methods }
}

/** Submits the second factor and signs the user in. Success uses up the login ticket. */
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

/** Sends the user's consent or denial, and returns the URL to open next. Throws an ApiFailure. */
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

/** Reads the `sub` of a device_token without verifying it, because it came directly from its issuer. */
function subjectOf(deviceToken: string): string {
  const payload = (deviceToken.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0))
  return (JSON.parse(new TextDecoder().decode(bytes)) as { sub: string }).sub
}
