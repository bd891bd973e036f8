import * as v from 'valibot'
import { generateMac, newestMacKey } from '../aws/generate-mac.ts'
import { Failure, invalidParameter } from '../errors.ts'
import type { RequestInfo } from '../http/request.ts'
import { isSameSecret } from '../is-same-secret.ts'
import { type Client, readClient } from './client.ts'
import { requireParameter } from './parameter.ts'

/** The client credentials of a request. */
export interface ClientCredentials {
  clientId: string
  /** The secret as sent. For a Basic header, also the form-decoded secret. Empty if no secret was sent. */
  secrets: string[]
  /** Whether the client credentials came in the `Authorization` header. */
  basic: boolean
}

/**
 * Reads the client credentials of a token or revocation request: `client_secret_basic`, `client_secret_post`,
 * or only a `client_id` (OAuth 2.1 §2.4, RFC 6749 §2.3.1). Refuses more than one method at once.
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
  const credentials = parseBasic(header)
  if (client_secret !== undefined)
    throw invalidParameter('client_secret', 'must not be sent beside an Authorization header')
  if (client_id !== undefined && client_id !== credentials.clientId)
    throw invalidParameter('client_id', 'differs from that of the Authorization header')
  return credentials
}

function parseBasic(header: string): ClientCredentials {
  const text = Buffer.from(header, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon === -1) throw invalidClient(true)
  const secret = text.slice(colon + 1)
  return {
    clientId: decodeForm(text.slice(0, colon)),
    // Also tries the secret as sent. In HTTP Basic, clients must form-encode it (RFC 6749 §2.3.1), but many
    // do not. The two readings differ only if the secret contains % or +.
    secrets: secret === '' ? [] : [...new Set([decodeForm(secret), secret])],
    basic: true,
  }
}

/** Decodes `application/x-www-form-urlencoded` text. If its encoding is invalid, returns the text as is. */
function decodeForm(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Failure `invalid_client`: 401 with a challenge if the client used HTTP Basic, else 400 (RFC 6749 §5.2). */
const invalidClient = (basic: boolean): Failure =>
  new Failure(
    'invalid_client',
    basic ? { headers: { 'www-authenticate': 'Basic realm="oauth2", charset="UTF-8"' } } : { status: 400 },
  )

/**
 * Authenticates a confidential client by its secret. A public client sends only its client_id (RFC 6749
 * §3.2.1). If a public client sends a secret, it is misconfigured and is refused.
 */
export async function authenticateClient({ clientId, secrets, basic }: ClientCredentials): Promise<Client> {
  const client = await readClient(clientId)
  if (client === undefined) throw invalidClient(basic)
  const { secretMac } = client
  const authentic =
    secretMac === undefined ? secrets.length === 0 : await matchesSecret(clientId, secrets, secretMac)
  if (!authentic) throw invalidClient(basic)
  return client
}

async function matchesSecret(clientId: string, readings: string[], stored: string): Promise<boolean> {
  for (const reading of readings) if (await isClientSecret(clientId, reading, stored)) return true
  return false
}

/**
 * Schema of a client secret: printable ASCII (RFC 6749 appendix A.2), long enough that nobody can guess it
 * (OpenID Connect Core §16.19).
 */
export const ClientSecret = v.pipe(
  v.string(),
  v.regex(/^[\x20-\x7e]{32,512}$/, 'must be 32 to 512 printable ASCII characters'),
)

/**
 * Computes the stored form of a client's secret: the id of the MAC's key, then the MAC. Thanks to the MAC, a
 * stolen table neither shows the secret nor allows guessing it offline. The MAC covers the client_id, so
 * equal secrets of two clients look different.
 */
export async function macClientSecret(
  clientId: string,
  secret: string,
  keyId = newestMacKey(),
): Promise<string> {
  // A space separates client_id and secret. No client_id contains a space, so different pairs stay different.
  const mac = await generateMac('client-secret', `${clientId} ${secret}`, keyId)
  return `${keyId}:${Buffer.from(mac).toString('base64url')}`
}

/** Whether a client's secret matches its stored form, compared in constant time. */
export async function isClientSecret(clientId: string, secret: string, stored: string): Promise<boolean> {
  // Refuses a text that cannot be a client's secret, to save a call of KMS.
  if (!v.is(ClientSecret, secret)) return false
  return isSameSecret(await macClientSecret(clientId, secret, stored.split(':')[0]), stored)
}
