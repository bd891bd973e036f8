import { expect } from 'vitest'
import { useLocalStack } from './local-stack.ts'
import { markSecret } from './mark-secret.ts'
import {
  authorizationRequest,
  bearer,
  exchangeRequest,
  pkce,
  type SignedIn,
  type TestClient,
} from './oauth-clients.ts'

/** The shared local stack, which these helpers call. */
export const stack = await useLocalStack()

/** Builds the URL of a path of the shared local stack. */
export const address = (path: string): string => stack.base_url + path

/** Sends the browser's authorization request without following the redirect. */
export const getAuthorize = (parameters: Record<string, string> | string): Promise<Response> =>
  fetch(`${address('/oauth2/authorize')}?${new URLSearchParams(parameters).toString()}`, {
    redirect: 'manual',
  })

/** Status, headers and JSON body of an answer. */
export interface Answer {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

/** Posts JSON to a path of the shared local stack. */
export const postJson = (
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> => send(path, { ...headers, 'content-type': 'application/json' }, JSON.stringify(body))

/** Posts a form to a path of the shared local stack, as OAuth clients do. */
export const postForm = (
  path: string,
  body: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  send(
    path,
    { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    new URLSearchParams(body).toString(),
  )

async function send(path: string, headers: Record<string, string>, body: string): Promise<Answer> {
  const response = await fetch(address(path), { method: 'POST', headers, body })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  }
}

/** Posts the user's consent as the authorization page does. */
export const postConsent = (session: SignedIn, request: Record<string, unknown>): Promise<Answer> =>
  postJson('/oauth2/authorize/consent', request, bearer(session.accessToken))

/** Issues a device_token for the user of a session. */
export async function deviceTokenOf({ accessToken }: SignedIn): Promise<string> {
  const { body } = await postJson('/oauth2/authorize', { access_token: accessToken })
  const { device_token } = body['data'] as { device_token: string }
  await markSecret(device_token)
  return device_token
}

/** Consents as the user. Returns the authorization code, and the token request that exchanges the code. */
export async function obtainCode(
  client: TestClient,
  session: SignedIn,
  overrides: Record<string, string | undefined> = {},
): Promise<{ code: string; exchange: Record<string, string> }> {
  const { verifier, challenge } = pkce()
  const request = authorizationRequest(client, { code_challenge: challenge, ...overrides })
  const { status, body } = await postConsent(session, request)
  if (status !== 200) throw new Error(`consent was answered ${status} ${JSON.stringify(body)}`)
  const { code } = body['data'] as { code: string }
  await Promise.all([code, verifier].map(markSecret))
  return {
    code,
    exchange: exchangeRequest({ ...client, redirectUri: request['redirect_uri'] ?? '' }, code, verifier),
  }
}

/** Calls the userinfo endpoint, which also shows whether an access_token works. */
export const getUserinfo = (accessToken: string): Promise<Response> =>
  fetch(address('/oauth2/userinfo'), { headers: bearer(accessToken) })

/** Asserts that the API refuses an access_token. */
export async function expectRefused(accessToken: unknown): Promise<void> {
  expect((await getUserinfo(String(accessToken))).status).toBe(401)
}
