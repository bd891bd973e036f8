import type { Client } from './client.ts'
import { Failure } from '../errors.ts'
import { loopbackWithoutPort } from './loopback.ts'

/** A client and the address of its own to which the answer goes. */
export interface Destination {
  client: Client
  redirectUri: string
}

/**
 * The address of a request is one that its client registered, character for character (RFC 9700 §2.1, OAuth 2.1 §2.3.1); only the port of a
 * loopback address may vary (RFC 8252 §7.3). Anything else is `invalid_redirect`, told to the browser and never redirected (RFC 6749 §4.1.2.1).
 */
export function checkRedirectUri(client: Client | undefined, redirectUri: string | undefined): Destination {
  if (client === undefined || redirectUri === undefined) throw new Failure('invalid_redirect')
  const loopback = loopbackWithoutPort(redirectUri)
  const registered = client.redirectUris.some(
    (uri) => uri === redirectUri || (loopback !== undefined && loopbackWithoutPort(uri) === loopback),
  )
  if (!registered) throw new Failure('invalid_redirect')
  return { client, redirectUri }
}
