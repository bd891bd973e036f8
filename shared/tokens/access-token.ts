import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { Integer, type Key } from '../db/table.ts'
import { Failure } from '../errors.ts'
import { type RequiredScope, type Scope, scopes } from './scopes.ts'
import { readItem } from '../db/read.ts'

/** The signed-in user on whose behalf a request is made, and the token that says so. */
export interface Caller {
  userId: number
  /** The sign-in that the token comes from, directly or through a code: `sid` of the device_token. */
  sessionId: string
  clientId: string
  scopes: Scope[]
  /** Whether the token was given by the password flow itself. */
  firstParty: boolean
  /** Epoch milliseconds. */
  expiresAt: number
  /** When the user proved who they are; epoch milliseconds. */
  authenticatedAt: number
  /** Key of the token's own item. */
  key: Key
}

/** The stored side of an access_token; the token itself is kept by its holder alone. */
export const TokenItem = v.object({
  user_id: Integer,
  session_id: v.string(),
  client_id: v.string(),
  scopes: v.array(v.picklist(scopes)),
  first_party: v.boolean(),
  expires_at: Integer,
  authenticated_at: Integer,
})

/**
 * A new access_token: the user and the session, so that its item is found with one read, and 256 bits of randomness.
 * Clients treat it as opaque.
 */
export const newAccessToken = (userId: number, sessionId: string): string =>
  `at_${userId.toString(36)}.${sessionId}.${randomBytes(32).toString('base64url')}`

/** A new session id, 128 bits. */
export const newSessionId = (): string => randomBytes(16).toString('base64url')

const shape = /^at_([0-9a-z]{1,11})\.([A-Za-z0-9_-]{22})\.[A-Za-z0-9_-]{43}$/

/** The user that a token claims to be of, or undefined where it is none of our tokens. */
export function claimedUserId(token: string): number | undefined {
  const digits = shape.exec(token)?.[1]
  const userId = digits === undefined ? Number.NaN : Number.parseInt(digits, 36)
  return Number.isSafeInteger(userId) && userId.toString(36) === digits ? userId : undefined
}

/** Partition of everything that is read to know a user's session. */
export const sessionPartition = (userId: number): string => `USER#${userId}`

/** Prefix of the sort keys of all tokens of a session, or of all sessions of the user. */
export const tokenPrefix = (sessionId?: string): string =>
  sessionId === undefined ? 'TOKEN#' : `TOKEN#${sessionId}#`

/** Key of a token's item: only the token's SHA-256 is stored. Throws on anything but one of our tokens. */
export function tokenKey(token: string): Key {
  const userId = claimedUserId(token)
  const sessionId = shape.exec(token)?.[2]
  if (userId === undefined || sessionId === undefined) throw new Failure('unauthenticated')
  const hash = createHash('sha256').update(token).digest('base64url')
  return { pk: sessionPartition(userId), sk: tokenPrefix(sessionId) + hash }
}

/**
 * The caller behind a token, or `unauthenticated` where it is unknown, expired or revoked, or `insufficient_scope`.
 *
 * The first read is eventually consistent, at half the price; a token that it does not find is looked for once more with
 * a consistent read, so that one given a moment ago works. First-party endpoints, which give out or end access, read
 * consistently at once.
 */
export async function checkAccessToken(token: string, reach: RequiredScope): Promise<Caller> {
  const key = tokenKey(token)
  const item =
    reach === 'first-party'
      ? await readToken(key, true)
      : ((await readToken(key, false)) ?? (await readToken(key, true)))
  if (item === undefined || item.expires_at <= Date.now()) throw new Failure('unauthenticated')
  const caller = toCaller(item, key)
  if (reach === 'first-party' ? !caller.firstParty : !caller.scopes.includes(reach)) {
    throw new Failure('insufficient_scope')
  }
  return caller
}

async function readToken(key: Key, consistent: boolean) {
  const item = await readItem(key, { consistent })
  return item === undefined ? undefined : v.parse(TokenItem, item)
}

const toCaller = (item: v.InferOutput<typeof TokenItem>, key: Key): Caller => ({
  userId: item.user_id,
  sessionId: item.session_id,
  clientId: item.client_id,
  scopes: item.scopes,
  firstParty: item.first_party,
  expiresAt: item.expires_at,
  authenticatedAt: item.authenticated_at,
  key,
})
