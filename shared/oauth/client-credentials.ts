import { Failure, invalidParameter } from '../errors.ts'
import type { RequestInfo } from '../http/request.ts'
import { requireParameter } from './parameter.ts'

/** Who a client says it is, and how it proves it. */
export interface ClientCredentials {
  clientId: string
  /** Secrets, any one of which may be the right one; none where the client sent none. */
  secrets: string[]
  /** Whether they came in the `Authorization` header. */
  basic: boolean
}

/**
 * The client of a request to the token or the revocation endpoint: `client_secret_basic`, `client_secret_post`, or a
 * public client's `client_id` alone (OAuth 2.1 §2.4, RFC 6749 §2.3.1). More than one way at once is refused.
 */
export function readClientCredentials(
  { client_id, client_secret }: { client_id?: string | undefined; client_secret?: string | undefined },
  { authorization }: Pick<RequestInfo, 'authorization'>,
): ClientCredentials {
  const header = authorization('basic')
  if (header === undefined) {
    const clientId = requireParameter('client_id', client_id)
    return { clientId, secrets: client_secret === undefined ? [] : [client_secret], basic: false }
  }
  const credentials = readBasic(header)
  if (client_secret !== undefined) {
    throw invalidParameter('client_secret', 'must not be sent beside an Authorization header')
  }
  if (client_id !== undefined && client_id !== credentials.clientId) {
    throw invalidParameter('client_id', 'differs from that of the Authorization header')
  }
  return credentials
}

function readBasic(header: string): ClientCredentials {
  const text = Buffer.from(header, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon === -1) throw invalidClient(true)
  const secret = text.slice(colon + 1)
  return {
    clientId: decodeForm(text.slice(0, colon)),
    // Clients must encode both (RFC 6749 §2.3.1); many send the secret as it is, which differs where it holds % or +.
    secrets: secret === '' ? [] : [...new Set([decodeForm(secret), secret])],
    basic: true,
  }
}

/** `application/x-www-form-urlencoded` text decoded, or as it is where it is not encoded. */
function decodeForm(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** The failure of client authentication: 401 and a challenge only where the client used the header (RFC 6749 §5.2). */
export const invalidClient = (basic: boolean): Failure =>
  new Failure(
    'invalid_client',
    basic ? { headers: { 'www-authenticate': 'Basic realm="oauth2", charset="UTF-8"' } } : { status: 400 },
  )
