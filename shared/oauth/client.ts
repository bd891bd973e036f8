import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { findItem } from '../db/read.ts'
import { Integer, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { settings } from '../settings.ts'
import { scopes } from '../tokens/scopes.ts'

/**
 * Whether a client must use PKCE. With `optional`, it may send a nonce instead, and with `off` neither: then
 * nothing ties a code to the browser that asked for it, which RFC 9700 §2.1.1 forbids to clients. It is for
 * applications that can do neither, and for the OpenID Foundation's tests, which send such a request.
 * Only clients with a secret may be registered with `optional` or `off`.
 */
export const Pkce = v.pipe(
  v.picklist(['required', 'optional', 'off']),
  v.description(
    '`required` (the default): the client must use PKCE with S256. `optional`: it may send a `nonce` instead. `off`: it need not send either, so nothing ties a code to the browser that asked for it; only for an application that can do neither. Both only beside a `secret`.',
  ),
)
export type Pkce = v.InferOutput<typeof Pkce>

/** The stored form of an OAuth client. A client is an application that may request codes and tokens. */
const Client = v.object({
  clientId: v.string(),
  name: v.string(),
  /** Redirect URIs of the client, exactly as registered. */
  redirectUris: v.array(v.string()),
  scopes: v.array(v.picklist(scopes)),
  /** MAC of a confidential client's secret; undefined for a public client. */
  secretMac: v.optional(v.string()),
  /** Whether its requests need a PKCE challenge. */
  pkce: Pkce,
  /** Where a sign-out may return to (RP-Initiated Logout §3.1), exactly as registered. */
  postLogoutRedirectUris: v.optional(v.array(v.string())),
  /** When the client was last registered or replaced, epoch milliseconds. */
  updatedAt: Integer,
})
export type Client = v.InferOutput<typeof Client>

const clients = itemType({
  pk: 'CLIENT#{clientId}',
  sk: 'CLIENT',
  holds: 'a client: its redirect URIs, scopes and the MAC of its secret',
  found: 'by client_id',
})

const clientKey = (clientId: string): Key => clients.key({ clientId })

/**
 * Maximum length of a client_id. A longer one counts as unknown and is not looked up, which keeps keys far
 * below DynamoDB's limit of 2,048 bytes.
 */
const maxClientIdLength = 200

/**
 * Reads a client; undefined if it is unknown. If the service's own client is not registered, returns a public
 * client without redirect URIs, which cannot get codes. The read is eventually consistent, so it may miss a
 * very recent change. DynamoDB allows 6,000 such reads of an item per second, but only 3,000 strongly
 * consistent ones.
 */
export async function readClient(clientId: string | undefined): Promise<Client | undefined> {
  if (clientId === undefined || clientId.length > maxClientIdLength) return undefined
  const item = await findItem(clientKey(clientId))
  if (item !== undefined) return v.parse(Client, item)
  return clientId === settings().firstPartyClientId
    ? { clientId, name: clientId, redirectUris: [], scopes: [...scopes], pkce: 'required', updatedAt: 0 }
    : undefined
}

/**
 * The write that registers or replaces a client. It fails if the stored client is as new or newer, by
 * `countedAt` (see countedInstant), then by `updatedAt`.
 */
export const putClient = (client: Client, countedAt = client.updatedAt): Write => ({
  Put: {
    Item: { ...clientKey(client.clientId), ...client, countedAt },
    ConditionExpression:
      'attribute_not_exists(pk) OR countedAt < :countedAt OR (countedAt = :countedAt AND updatedAt < :updatedAt)',
    ExpressionAttributeValues: { ':updatedAt': client.updatedAt, ':countedAt': countedAt },
  },
})
