import * as v from 'valibot'
import { requireEnv } from '../env.ts'
import { describeFailure } from '../http/reply.ts'
import type { RequestInfo } from '../http/request.ts'
import {
  AuthorizationError,
  type AuthorizationParameters,
  checkAuthorizationRequest,
} from './authorization-request.ts'
import { readClient } from './client.ts'
import { authorizationResponseUrl, checkRedirectUri } from './redirect-uri.ts'

/**
 * Returns the URL to redirect the browser to (OAuth 2.1 §4.1.1): the authorization page, or the client's
 * redirect URI with `error` if a parameter is bad. Throws `invalid_redirect` if client or redirect URI is
 * invalid. Reads once (twice for an unknown client) and never writes, because anyone can call this function.
 */
export async function authorize(
  parameters: AuthorizationParameters,
  { rawQuery, repeated }: Pick<RequestInfo, 'rawQuery' | 'repeated'>,
): Promise<string> {
  const { client_id, redirect_uri, state } = parameters
  const { client, redirectUri } = checkRedirectUri(await readClient(client_id), redirect_uri)
  try {
    const [name] = repeated()
    if (name !== undefined) throw new AuthorizationError(name, 'is repeated')
    checkAuthorizationRequest(parameters, client)
  } catch (error) {
    if (!(error instanceof AuthorizationError)) throw error
    return authorizationResponseUrl(redirectUri, {
      error: error.error,
      error_description: describeFailure(error),
      state,
    })
  }
  return authorizationPageUrl(rawQuery)
}

/**
 * Builds the URL of the authorization page by adding the request's query. The URL parser percent-encodes
 * characters that must not appear in a header.
 */
function authorizationPageUrl(rawQuery: string): string {
  const page = new URL(requireEnv('AUTH_URL'))
  page.search = page.search === '' ? rawQuery : `${page.search}&${rawQuery}`
  return page.href
}

/** What the authorization page shows of a request. */
export const RequestDescription = v.object({
  client_name: v.string(),
  /** The scopes that the client gets if the user consents, separated by spaces. */
  scope: v.string(),
})
export type RequestDescription = v.InferOutput<typeof RequestDescription>

/**
 * Describes an authorization request to the authorization page. Checks the request as the consent endpoint
 * does, so that nobody types a password in vain. Reads no user, because anyone can call this function.
 */
export async function describeRequest(parameters: AuthorizationParameters): Promise<RequestDescription> {
  const { client_id, redirect_uri } = parameters
  const { client } = checkRedirectUri(await readClient(client_id), redirect_uri)
  const { scopes } = checkAuthorizationRequest(parameters, client)
  return { client_name: client.name, scope: scopes.join(' ') }
}
