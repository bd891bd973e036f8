import SparkMD5 from 'spark-md5'
import { ApiFailure, get, post } from './api.ts'
import type { AuthorizationRequest, SentRequest } from './authorization-request.ts'
import { readPayload } from './jwt.ts'

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
  /** When the user signed in, epoch milliseconds. */
  authenticatedAt: number
}

/**
 * Requests from the service what it knows of the app and its request. Throws an ApiFailure if the request is
 * invalid.
 */
export async function checkRequest(sent: SentRequest): Promise<AuthorizationRequest> {
  const query = new URLSearchParams(sent.parameters).toString()
  const data = await get<{
    client_name: string
    scope: string
    remembers_consent: boolean
    error_urls?: AuthorizationRequest['errorUrls']
  }>(`/oauth2/authorize/request?${query}`)
  return {
    ...sent,
    clientName: data.client_name,
    scopes: data.scope.split(' '),
    remembersConsent: data.remembers_consent,
    errorUrls: data.error_urls,
  }
}

/** What the service has found out about a sign-out request. */
export interface SignOutRequest {
  /** The registered name of the app that asks, if one does. */
  clientName: string | undefined
  /** The URL to open after the sign-out, if there is one. */
  target: string | undefined
}

/** Lets the service check a sign-out request. Throws an ApiFailure if the request is invalid. */
export async function checkSignOut(parameters: Record<string, string>): Promise<SignOutRequest> {
  const query = new URLSearchParams(parameters).toString()
  const data = await get<{ client_name?: string; redirect_to?: string }>(`/oauth2/sign-out/request?${query}`)
  return { clientName: data.client_name, target: data.redirect_to }
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
  // The device_token needs no verification, because it comes directly from its issuer.
  const { sub, auth_time: seconds } = readPayload(data.device_token) as { sub: string; auth_time: number }
  return {
    accessToken: data.access_token,
    userId: sub,
    email: data.email,
    expire: data.expire,
    authenticatedAt: seconds * 1000,
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

/** Failure codes of the API for a session that is no longer valid. */
export const sessionEnded = [40100, 40300]

/** Ends the user's session on the service. Throws an ApiFailure, but not if the session has ended already. */
export async function signOut({ accessToken, userId }: Account): Promise<void> {
  try {
    await post('/user/logout', { id: userId }, accessToken)
  } catch (error) {
    if (!(error instanceof ApiFailure) || !sessionEnded.includes(error.code)) throw error
  }
}
