import * as v from 'valibot'
import { type AuthorizationParameters, checkAuthorizationRequest } from './authorization-request.ts'
import { findClient } from './client.ts'
import { checkRedirectUri } from './redirect-uri.ts'

/** What the authorization page shows of a request. */
export const RequestDescription = v.object({
  /** The client's registered name. */
  client_name: v.string(),
  /** The scopes that the client gets if the user consents, separated by spaces. */
  scope: v.string(),
})
export type RequestDescription = v.InferOutput<typeof RequestDescription>

/**
 * Describes an authorization request to the page that shows it. Makes all checks of consent, so that nobody
 * types a password for a request that would be refused. Costs one eventually consistent read, as authorize
 * does, because anyone may call it.
 */
export async function describeRequest(parameters: AuthorizationParameters): Promise<RequestDescription> {
  const { client_id, redirect_uri } = parameters
  const { client } = checkRedirectUri(await findClient(client_id), redirect_uri)
  const { scopes } = checkAuthorizationRequest(parameters, client)
  return { client_name: client.name, scope: scopes.join(' ') }
}
