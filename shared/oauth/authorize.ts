import { readClient } from './client.ts'
import type { RequestInfo } from '../http/request.ts'
import { describeFailure } from '../http/reply.ts'
import { authorizationResponseUrl } from './authorization-response-url.ts'
import { AuthorizationFault, faultOf } from './authorization-fault.ts'
import { authorizationPage } from './authorization-page.ts'
import type { AuthorizationParameters } from './authorization-parameters.ts'
import { checkAuthorizationRequest } from './check-authorization-request.ts'
import { checkRedirectUri } from './check-redirect-uri.ts'

/**
 * Where the browser goes with an authorization request (OAuth 2.1 §4.1.1): to the authorization page, or, where the
 * request is at fault, back to its client with `error`. Throws `invalid_redirect` where there is no client to go back to.
 * Costs one eventually consistent read, and writes nothing: it is open to everyone.
 */
export async function authorize(
  parameters: AuthorizationParameters,
  { rawQuery, repeated }: Pick<RequestInfo, 'rawQuery' | 'repeated'>,
): Promise<string> {
  const { client_id, redirect_uri, state } = parameters
  const registered = client_id === undefined ? undefined : await readClient(client_id)
  const { client, redirectUri } = checkRedirectUri(registered, redirect_uri)
  try {
    const [name] = repeated()
    if (name !== undefined) throw faultOf(name, 'is repeated')
    checkAuthorizationRequest(parameters, client)
  } catch (error) {
    if (!(error instanceof AuthorizationFault)) throw error
    return authorizationResponseUrl(redirectUri, {
      error: error.error,
      error_description: describeFailure(error),
      state,
    })
  }
  return authorizationPage(rawQuery)
}
