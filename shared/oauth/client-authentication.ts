import * as v from 'valibot'
import { generateMac, newestMacKey } from '../aws/generate-mac.ts'
import { Failure, invalidParameter } from '../errors.ts'
import type { RequestInfo } from '../http/request.ts'
import { isSameSecret } from '../is-same-secret.ts'
import { type Client, readClient } from './client.ts'
import { requireParameter } from './parameter.ts'

/**
 * The client credentials of a request. In HTTP Basic, clients must form-encode both parts (RFC 6749 §2.3.1),
 * but many do not. So each part of a Basic header has two readings, form-decoded and as sent, if it contains
 * `%` or `+`.
 */
export interface ClientCredentials {
  clientIds: string[]
  /** Empty if no secret was sent. */
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
    return {
      clientIds: [clientId],
      secrets: client_secret === undefined ? [] : [client_secret],
      basic: false,
    }
  }
  const credentials = parseBasic(header)
  if (client_secret !== undefined)
    throw invalidParameter('client_secret', 'must not be sent beside an Authorization header')
  if (client_id === undefined) return credentials
  if (!credentials.clientIds.includes(client_id))
    throw invalidParameter('client_id', 'differs from that of the Authorization header')
  return { ...credentials, clientIds: [client_id] }
}

function parseBasic(header: string): ClientCredentials {
  const text = Buffer.from(header, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon === -1) throw invalidClient(true)
  const secret = text.slice(colon + 1)
  return {
    clientIds: readings(text.slice(0, colon)),
    secrets: secret === '' ? [] : readings(secret),
    basic: true,
  }
}

const readings = (text: string): string[] => [...new Set([decodeForm(text), text])]

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
export async function authenticateClient({ clientIds, secrets, basic }: ClientCredentials): Promise<Client> {
  for (const clientId of clientIds) {
    const client = await readClient(clientId)
    if (client !== undefined && (await isAuthentic(client, secrets))) return client
  }
  throw invalidClient(basic)
}

async function isAuthentic({ clientId, secretMac }: Client, secrets: string[]): Promise<boolean> {
  if (secretMac === undefined) return secrets.length === 0
  for (const secret of secrets) if (await isClientSecret(clientId, secret, secretMac)) return true
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
