import { issuer } from '../tokens/discovery.ts'

/**
 * The address by which a client gets its answer: its redirect URI as it sent it, with the answer's parameters added to whatever query it has
 * (RFC 6749 §3.1.2) and `iss`, by which it knows whose answer it is (RFC 9207 §2). Parameters without a value are left out.
 */
export function authorizationResponseUrl(
  redirectUri: string,
  answer: Record<string, string | undefined>,
): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(answer)) {
    if (value !== undefined) parameters.set(name, value)
  }
  parameters.set('iss', issuer())
  return redirectUri + separator(redirectUri) + parameters.toString()
}

function separator(uri: string): string {
  if (!uri.includes('?')) return '?'
  return uri.endsWith('?') || uri.endsWith('&') ? '' : '&'
}
