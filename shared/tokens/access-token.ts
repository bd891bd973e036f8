import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItems } from '../db/read.ts'
import { Integer, type Key, ttlAfter } from '../db/table.ts'
import { putNew, type Write } from '../db/write.ts'
import { Failure, failures } from '../errors.ts'
import { decodeUserId, encodeUserId } from '../fields.ts'
import { log } from '../log.ts'
import { type RequiredScope, type Scope, scopes } from './scopes.ts'

/**
 * An access_token as stored: everything but the token itself, which only its holder has. Instants are epoch
 * milliseconds.
 */
export const TokenItem = v.object({
  userId: Integer,
  /** Id of the session, which is one sign-in with all its tokens. In a device_token, the claim `sid`. */
  sessionId: v.string(),
  clientId: v.string(),
  scopes: v.array(v.picklist(scopes)),
  /** Whether the token comes from a sign-in by password and second factor, not from an OAuth client. */
  firstParty: v.boolean(),
  expiresAt: Integer,
  /** When the user signed in. */
  authenticatedAt: Integer,
  /** The user's generation at the start of this session (see endAllSessions). */
  generation: Integer,
  /**
   * For a session's own token: the number of tokens derived from it. For a derived token: its number, from 1.
   */
  derived: Integer,
})
export type TokenItem = v.InferOutput<typeof TokenItem>

/** The signed-in user on whose behalf a request is made, as the request's access_token says. */
export interface Caller extends TokenItem {
  /** Key of the access_token's item. */
  key: Key
  /** The access_token's digest, which proves to the token endpoint that its holder was here. */
  digest: string
}

/** An access_token: `at_`, user id in base 36, session id (128 bits), 256 random bits. Opaque to clients. */
const tokenShape = /^at_([0-9a-z]{1,11})\.([A-Za-z0-9_-]{22})\.[A-Za-z0-9_-]{43}$/

/** Reads the user id that an access_token claims, unverified; undefined if the text is not such a token. */
export const claimedUserId = (token: string): number | undefined => decodeUserId(tokenShape.exec(token)?.[1])

/** The items of access_tokens in the table. Only the files in this folder may use them. */
export const tokens = itemType({
  pk: 'TOKENS#{userId}',
  sk: 'TOKEN#{sessionId}#{hash}',
  holds: 'an access_token, by the digest of its digest: its session, client, scopes and expiry',
  found: 'by token; all of a session',
})

/**
 * The failure of a request whose access_token is missing, refused, or does not reach so far, with the
 * challenge of RFC 6750 §3. If the token is missing, the challenge has no `error` (§3.1).
 */
export function tokenFailure(
  failure: 'unauthenticated' | 'insufficient_scope' | 'forbidden',
  tokenSent = true,
): Failure {
  // A token does not reach what belongs to somebody else, either. RFC 6750 §3.1 has no `access_denied`.
  const { oauth: error } = failures[failure === 'forbidden' ? 'insufficient_scope' : failure]
  return new Failure(failure, {
    headers: { 'www-authenticate': tokenSent ? `Bearer error="${error}"` : 'Bearer' },
  })
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

/**
 * The digest of an access_token, which only somebody who has seen the token can compute. The prefix keeps it
 * apart from `at_hash`, which shows half of the token's plain SHA-256.
 */
export const tokenDigest = (token: string): string => sha256(`access_token ${token}`)

/**
 * Key of the item of the access_token that has this digest. The table knows a token by the digest of its
 * digest, so whoever reads the table learns no token's digest.
 */
export const keyOfDigest = ({
  userId,
  sessionId,
  digest,
}: Pick<TokenItem, 'userId' | 'sessionId'> & { digest: string }): Key =>
  tokens.key({ userId, sessionId, hash: sha256(digest) })

/** Key of an access_token's item. Throws `unauthenticated` if `token` does not look like an access_token. */
export function tokenKey(token: string): Key {
  const userId = claimedUserId(token)
  const sessionId = tokenShape.exec(token)?.[2]
  if (userId === undefined || sessionId === undefined) throw tokenFailure('unauthenticated')
  return keyOfDigest({ userId, sessionId, digest: tokenDigest(token) })
}

/** The user, session, scopes and other data of an access_token to issue. */
export type AccessTokenGrant = Omit<TokenItem, 'sessionId' | 'scopes' | 'generation' | 'derived'> & {
  /** The session; a new one by default. */
  sessionId?: string | undefined
  scopes: readonly Scope[]
  /** The user's generation at the start of this session (see endAllSessions). Default: 0. */
  generation?: number
  /** Sequence number of a derived token within its session; 0, the default, for the session's own token. */
  derived?: number
}

/** Creates an access_token. It is not valid until its item is written. */
export const newAccessToken = (userId: number, sessionId: string): string =>
  `at_${encodeUserId(userId)}.${sessionId}.${randomBytes(32).toString('base64url')}`

/** Creates the id of a session. */
export const newSessionId = (): string => randomBytes(16).toString('base64url')

/**
 * Issues an access_token. It becomes valid when `put` is written, in the transaction that uses up the
 * authorization code or the login ticket. The token can be revoked by `key`.
 */
export function issueAccessToken(
  grant: AccessTokenGrant,
  accessToken = newAccessToken(grant.userId, grant.sessionId ?? newSessionId()),
) {
  const sessionId = tokenShape.exec(accessToken)?.[2] ?? ''
  const key = tokenKey(accessToken)
  const { expiresAt, generation = 0, derived = 0 } = grant
  const item = { ...grant, sessionId, generation, derived, ttl: ttlAfter(expiresAt) }
  return { accessToken, sessionId, key, put: putNew({ ...key, ...item }) }
}

/**
 * A user's generation: how often all of the user's sessions were ended. Tokens of earlier generations are
 * refused, so one write ends any number of sessions. Only functions that end all sessions can change it.
 */
const endings = itemType({
  pk: 'ENDED#{userId}',
  sk: 'ENDED',
  holds: 'how often all sessions of a user were ended; tokens of an earlier generation are refused',
  found: 'by user',
})

const endedKey = (userId: number): Key => endings.key({ userId })

const EndedItem = v.object({ generation: Integer })

/**
 * The write that ends all sessions of a user by incrementing the user's generation. Its transaction must
 * contain changeSignInRecord, which increments the generation for new sessions and ends the login tickets.
 */
export const endAllSessions = (userId: number): Write => ({
  Update: {
    Key: endedKey(userId),
    UpdateExpression: 'ADD generation :one',
    ExpressionAttributeValues: { ':one': 1 },
  },
})

/** A condition for a transaction: the user's sessions of this generation have not been ended. */
export const requireGeneration = (userId: number, generation: number, otherwise: () => Error): Write => ({
  ConditionCheck: {
    Key: endedKey(userId),
    ConditionExpression: 'attribute_not_exists(pk) OR generation <= :generation',
    ExpressionAttributeValues: { ':generation': generation },
  },
  otherwise,
})

/** Scopes whose endpoints can change something. These endpoints check tokens by strongly consistent reads. */
const checkedConsistently: readonly RequiredScope[] = ['first-party', 'community.write']

/**
 * Finds the user and session of an access_token. Throws `unauthenticated` for an invalid token, and
 * `insufficient_scope` for a missing scope. A revoked token can still work for a moment at endpoints that
 * only read.
 */
export async function checkAccessToken(token: string, requiredScope: RequiredScope): Promise<Caller> {
  const key = tokenKey(token)
  const item = await readToken(key, claimedUserId(token) ?? 0, checkedConsistently.includes(requiredScope))
  if (item === undefined || item.expiresAt <= Date.now()) throw tokenFailure('unauthenticated')
  if (requiredScope === 'first-party' ? !item.firstParty : !item.scopes.includes(requiredScope))
    throw tokenFailure('insufficient_scope')
  log.appendKeys({ user_id: item.userId })
  return { ...item, key, digest: tokenDigest(token) }
}

/**
 * Reads a token and its user's generation. If the token is not found, reads again with strong consistency.
 * Resolves with undefined if there is no token or its user's sessions have been ended.
 */
async function readToken(key: Key, userId: number, consistent: boolean): Promise<TokenItem | undefined> {
  const [found, ended] = await readItems([key, endedKey(userId)], { consistent })
  if (found === undefined) return consistent ? undefined : readToken(key, userId, true)
  const item = v.parse(TokenItem, found)
  // A user without an item has the generation 0.
  const isEnded = ended !== undefined && item.generation < v.parse(EndedItem, ended).generation
  return isEnded ? undefined : item
}
