import * as v from 'valibot'
import { Failure, invalidParameter } from '../errors.ts'
import { checkIdTokenHint, checkLengths } from './authorization-request.ts'
import { readClient } from './client.ts'
import { Parameter } from './parameter.ts'
import { addToQuery } from './redirect-uri.ts'

/** Schema of a sign-out request's parameters (RP-Initiated Logout §2). */
export const SignOutParameters = v.object({
  id_token_hint: Parameter,
  client_id: Parameter,
  post_logout_redirect_uri: Parameter,
  state: Parameter,
})
export type SignOutParameters = v.InferOutput<typeof SignOutParameters>

/** What the sign-out page learns of a request. */
export const SignOutDescription = v.object({
  /** Name of the client that asks; left out if the request names none. */
  client_name: v.optional(v.string()),
  /** The URL to open after the sign-out; left out if the request names none. */
  redirect_to: v.optional(v.string()),
})
export type SignOutDescription = v.InferOutput<typeof SignOutDescription>

/**
 * Describes a sign-out request to the sign-out page. Throws `invalid_redirect` for an unknown client, and for
 * an address that the client has not registered, character for character (RP-Initiated Logout §3). Throws
 * `invalid_parameter` for a hint that is none of our tokens, or was issued to another client than the named
 * one (§2). Ends nothing: the page does, when the user agrees.
 */
export async function describeSignOut(parameters: SignOutParameters): Promise<SignOutDescription> {
  checkLengths(parameters)
  const { post_logout_redirect_uri: redirectUri, state } = parameters
  const hint = await checkIdTokenHint(parameters)
  const clientId = parameters.client_id ?? hint?.clientId
  if (hint !== undefined && hint.clientId !== clientId)
    throw invalidParameter('client_id', 'differs from the client of the id_token_hint')
  if (clientId === undefined && redirectUri === undefined) return {}
  const client = await readClient(clientId)
  if (client === undefined) throw new Failure('invalid_redirect')
  if (redirectUri === undefined) return { client_name: client.name }
  if (!client.postLogoutRedirectUris?.includes(redirectUri)) throw new Failure('invalid_redirect')
  return { client_name: client.name, redirect_to: addToQuery(redirectUri, { state }) }
}
