import * as v from 'valibot'
import { Failure } from '../errors.ts'
import { issuer } from '../env.ts'
import type { Client } from './client.ts'

const loopbackShape = /^(https?):\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::(\d{1,5}))?([/?].*)?$/

/** Removes the port from a loopback redirect URI; undefined for any other URI (RFC 8252 §7.3). */
function loopbackWithoutPort(uri: string): string | undefined {
  const parts = loopbackShape.exec(uri)
  if (parts === null || Number(parts[3] ?? '0') > 65_535) return undefined
  return `${parts[1]}://${parts[2]}${parts[4] ?? ''}`
}

/** Characters that a URI without a fragment may contain (RFC 3986 §2). */
// The bracket is escaped, because Java would read a nested class.
// eslint-disable-next-line no-useless-escape
const uriCharacters = /^[A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=%]{1,2000}$/

/** Without `//` and a host, a browser at an https address would read the rest as a path of that address. */
const httpsWithHost = /^https:\/\/[^/?]/i

/** A private-use URI scheme: a reversed domain name (RFC 8252 §7.1), which excludes `javascript:`. */
const privateUseScheme = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/

/** The parameters that an authorization response adds to the query (RFC 6749 §4.1.2, RFC 9207 §2). */
const responseParameters = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']

/**
 * Schema of a redirect URI that a client may register. The URI is absolute, and has no fragment, user name or
 * password (OAuth 2.1 §2.3). Its query has no parameter of a response, because clients would find it twice.
 */
export const RedirectUri = v.pipe(
  v.string(),
  v.regex(uriCharacters, 'must be an absolute URI without a fragment'),
  v.check((uri) => {
    const url = URL.parse(uri)
    if (url === null || url.username !== '' || url.password !== '') return false
    return (
      httpsWithHost.test(uri) ||
      (url.protocol === 'http:' && loopbackWithoutPort(uri) !== undefined) ||
      privateUseScheme.test(url.protocol)
    )
  }, 'must be https, http on a loopback host, or a private-use scheme'),
  v.check(
    (uri) => !responseParameters.some((name) => URL.parse(uri)?.searchParams.has(name)),
    `must not have a response parameter in its query: ${responseParameters.join(', ')}`,
  ),
)

/**
 * Checks that the client has registered this redirect URI, character for character (RFC 9700 §2.1, OAuth 2.1
 * §2.3.1). Only the port of a loopback URI may vary (RFC 8252 §7.3). Throws `invalid_redirect`, which is
 * shown in the browser and never redirected (RFC 6749 §4.1.2.1).
 */
export function checkRedirectUri(
  client: Client | undefined,
  redirectUri: string | undefined,
): { client: Client; redirectUri: string } {
  if (client === undefined || redirectUri === undefined || !isRegistered(client, redirectUri))
    throw new Failure('invalid_redirect')
  return { client, redirectUri }
}

function isRegistered({ redirectUris }: Client, redirectUri: string): boolean {
  const loopback = loopbackWithoutPort(redirectUri)
  return redirectUris.some(
    (uri) => uri === redirectUri || (loopback !== undefined && loopbackWithoutPort(uri) === loopback),
  )
}

/**
 * Whether the client gets codes without a click once the user has allowed it. This needs redirect URIs that
 * belong to the client alone: any app on a device can listen on a loopback port or take a private-use scheme
 * (RFC 8252 §8.6).
 */
export const remembersConsent = ({ redirectUris }: Pick<Client, 'redirectUris'>): boolean =>
  redirectUris.every((uri) => uri.startsWith('https:') && loopbackWithoutPort(uri) === undefined)

/**
 * Adds an authorization response's parameters to the query of a redirect URI (RFC 6749 §3.1.2). Adds the
 * issuer as `iss` (RFC 9207 §2). Leaves out undefined parameters.
 */
export const authorizationResponseUrl = (
  redirectUri: string,
  response: Record<string, string | undefined>,
): string => addToQuery(redirectUri, { ...response, iss: issuer() })

/** Adds parameters to the query of a URI without a fragment. Leaves out undefined parameters. */
export function addToQuery(uri: string, added: Record<string, string | undefined>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(added)) if (value !== undefined) parameters.set(name, value)
  return parameters.size === 0 ? uri : uri + querySeparator(uri) + parameters.toString()
}

function querySeparator(uri: string): string {
  if (!uri.includes('?')) return '?'
  return uri.endsWith('?') || uri.endsWith('&') ? '' : '&'
}
