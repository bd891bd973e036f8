import * as v from 'valibot'
import { requireEnv } from '../env.ts'
import { Failure } from '../errors.ts'
import { prefers } from '../http/prefers.ts'
import { describeFailure, Reply } from '../http/reply.ts'
import { type RequestInfo, sentParameters } from '../http/request.ts'
import {
  AuthorizationError,
  type AuthorizationParameters,
  checkAuthorizationRequest,
} from './authorization-request.ts'
import { type Client, readClient } from './client.ts'
import { authorizationResponseUrl, checkRedirectUri, remembersConsent } from './redirect-uri.ts'
import { refusalPage } from './refusal-page.ts'

/**
 * Answers an authorization request (OAuth 2.1 §4.1.1) by a redirect: to the authorization page, or to the
 * client's redirect URI with `error` if a parameter is bad. `sent` is the query or the form, as sent. If
 * client or redirect URI is invalid, a browser gets a page that says which; for others, throws
 * `invalid_redirect`. Reads once (twice for an unknown client, once more for a hint) and never writes,
 * because anyone can call this function.
 */
export async function authorize(
  parameters: AuthorizationParameters,
  sent: string,
  { header }: Pick<RequestInfo, 'header'>,
): Promise<Reply> {
  const registered = await readClient(parameters.client_id)
  try {
    const { client, redirectUri } = checkRedirectUri(registered, parameters.redirect_uri)
    const error = await findError(parameters, client, sent, header('sec-fetch-dest'))
    const { state } = parameters
    return new Reply(302, {
      location: error
        ? authorizationResponseUrl(redirectUri, { ...error, state })
        : authorizationPageUrl(sent),
    })
  } catch (error) {
    const isInvalid = error instanceof Failure && error.failure === 'invalid_redirect'
    if (isInvalid && prefers(header('accept'), 'text/html')) return refusalPage(parameters, registered)
    throw error
  }
}

/** Values of `Sec-Fetch-Dest` for what is shown inside another page (Fetch Metadata §2.1). */
const framed = ['embed', 'fencedframe', 'frame', 'iframe', 'object']

/** The error to send to the client instead of showing the authorization page; undefined if there is none. */
async function findError(
  parameters: AuthorizationParameters,
  client: Client,
  sent: string,
  fetchDestination: string | undefined,
): Promise<{ error: string; error_description: string } | undefined> {
  try {
    const [repeated] = sentParameters(sent).repeated
    if (repeated !== undefined) throw new AuthorizationError(repeated, 'is repeated')
    const { isSilent } = await checkAuthorizationRequest(parameters, client)
    // Browsers never show the page in a frame, nor give it the session there. Without this answer, a client
    // that renews its tokens in a frame would wait until its time-out.
    if (isSilent && framed.includes(fetchDestination ?? ''))
      throw new AuthorizationError('prompt', 'none cannot be granted in a frame', 'login_required')
    return undefined
  } catch (error) {
    if (!(error instanceof AuthorizationError)) throw error
    return { error: error.error, error_description: describeFailure(error) }
  }
}

/**
 * Builds the URL of the authorization page by adding the request's parameters as they were sent. The URL
 * parser percent-encodes characters that must not appear in a header.
 */
function authorizationPageUrl(sent: string): string {
  const page = new URL(requireEnv('AUTH_URL'))
  page.search = page.search === '' ? sent : `${page.search}&${sent}`
  return page.href
}

/** What the authorization page learns of a request. */
export const RequestDescription = v.object({
  client_name: v.string(),
  /** The scopes that the client gets if the user consents, separated by spaces. */
  scope: v.string(),
  /** Whether what the user has allowed before may be given again without a click. */
  remembers_consent: v.boolean(),
  /** Only with `prompt=none`: for each error, the URL that the browser opens if the request ends with it. */
  error_urls: v.optional(v.record(v.string(), v.string())),
})
export type RequestDescription = v.InferOutput<typeof RequestDescription>

/**
 * Describes an authorization request to the authorization page. Checks the request as the consent endpoint
 * does, so that nobody types a password in vain. Reads no user, because anyone can call this function.
 */
export async function describeRequest(parameters: AuthorizationParameters): Promise<RequestDescription> {
  const { client_id, redirect_uri, state } = parameters
  const { client, redirectUri } = checkRedirectUri(await readClient(client_id), redirect_uri)
  const { scopes, isSilent } = await checkAuthorizationRequest(parameters, client)
  const urlOf = (error: string) => authorizationResponseUrl(redirectUri, { error, state })
  return {
    client_name: client.name,
    scope: scopes.join(' '),
    remembers_consent: remembersConsent(client),
    ...(isSilent && {
      error_urls: {
        login_required: urlOf('login_required'),
        consent_required: urlOf('consent_required'),
        interaction_required: urlOf('interaction_required'),
      },
    }),
  }
}
