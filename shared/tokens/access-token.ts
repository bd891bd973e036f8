import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { findItem, queryFirst, readItem } from '../db/read.ts'
import { Integer, type Item, Key, ttlAfter } from '../db/table.ts'
import { putNew, type Write, writeItem } from '../db/write.ts'
import { Failure } from '../errors.ts'
import { decodeUserId, encodeUserId } from '../fields.ts'
import { type RequiredScope, type Scope, scopes } from './scopes.ts'

/**
 * An access_token as stored: everything but the token itself, which only its holder has. Instants are epoch
 * milliseconds.
 */
const TokenItem = v.object({
  userId: Integer,
  /**
   * The session: the sign-in that the token comes from, directly or through a code; `sid` of the
   * device_token.
   */
  sessionId: v.string(),
  clientId: v.string(),
  scopes: v.array(v.picklist(scopes)),
  /** Whether the password flow itself issued the token. */
  firstParty: v.boolean(),
  expiresAt: Integer,
  /** When the user signed in. */
  authenticatedAt: Integer,
})
type TokenItem = v.InferOutput<typeof TokenItem>

/** The signed-in user on whose behalf a request is made, as the request's access_token says. */
export interface Caller extends TokenItem {
  /** Key of the access_token's item. */
  key: Key
}

/** An access_token: `at_`, user id in base 36, session id (128 bits), 256 random bits. Opaque to clients. */
const tokenShape = /^at_([0-9a-z]{1,11})\.([A-Za-z0-9_-]{22})\.[A-Za-z0-9_-]{43}$/

/** Reads the user id that an access_token claims, unverified; undefined if the text is not such a token. */
export const claimedUserId = (token: string): number | undefined => decodeUserId(tokenShape.exec(token)?.[1])

const tokens = itemType({
  pk: 'TOKENS#{userId}',
  sk: 'TOKEN#{sessionId}#{hash}',
  holds: 'an access_token, by its SHA-256: its session, client, scopes and expiry',
  found: 'by token; all of a session or of a user',
})

/** Prefix of the sort keys of all tokens of a session, or of the user if no session is given. */
const tokenPrefix = (sessionId?: string): string =>
  sessionId === undefined ? tokens.sortKeyPrefix : `${tokens.sortKeyPrefix}${sessionId}#`

/** Key of an access_token's item: only its SHA-256 is stored. Throws `unauthenticated` for other text. */
function tokenKey(token: string): Key {
  const userId = claimedUserId(token)
  const sessionId = tokenShape.exec(token)?.[2]
  if (userId === undefined || sessionId === undefined) throw new Failure('unauthenticated')
  const hash = createHash('sha256').update(token).digest('base64url')
  return tokens.key({ userId, sessionId, hash })
}

/** What an access_token is issued for; the session is a new one by default. */
export type AccessTokenGrant = Omit<TokenItem, 'sessionId' | 'scopes'> & {
  sessionId?: string | undefined
  scopes: readonly Scope[]
}

/** An issued access_token, which works once `put` is written. */
export interface IssuedToken {
  accessToken: string
  sessionId: string
  /** Key of the access_token's item, by which the token can be revoked without knowing it. */
  key: Key
  /** The write of the access_token, for the transaction that uses up what the token is issued for. */
  put: Write
}

/** Makes an access_token. Nobody has it until its item is written. */
export const newAccessToken = (userId: number, sessionId: string): string =>
  `at_${encodeUserId(userId)}.${sessionId}.${randomBytes(32).toString('base64url')}`

/** Makes the id of a session. */
export const newSessionId = (): string => randomBytes(16).toString('base64url')

/** Issues an access_token. It works once the returned `put` has been written. */
export function issueAccessToken(grant: AccessTokenGrant): IssuedToken {
  const sessionId = grant.sessionId ?? newSessionId()
  const accessToken = newAccessToken(grant.userId, sessionId)
  const key = tokenKey(accessToken)
  return {
    accessToken,
    sessionId,
    key,
    put: putNew({ ...key, ...grant, sessionId, ttl: ttlAfter(grant.expiresAt) }),
  }
}

/**
 * Finds the caller of an access_token. Throws `unauthenticated` when the token is unknown, expired or
 * revoked, and `insufficient_scope` when it lacks the scope.
 *
 * A token that was revoked a moment ago may still work, except for first-party endpoints: they issue or end
 * access, so they read consistently. One that was issued a moment ago works at once.
 */
export async function checkAccessToken(token: string, requiredScope: RequiredScope): Promise<Caller> {
  const key = tokenKey(token)
  const firstParty = requiredScope === 'first-party'
  const item = toToken(await findItem(key, { consistent: firstParty }))
  if (item === undefined || item.expiresAt <= Date.now()) throw new Failure('unauthenticated')
  if (firstParty ? !item.firstParty : !item.scopes.includes(requiredScope)) {
    throw new Failure('insufficient_scope')
  }
  return { ...item, key }
}

const toToken = (item: Item | undefined): TokenItem | undefined => item && v.parse(TokenItem, item)

/**
 * The condition that a session's own access_token still works, for the transaction that issues a code or a
 * token derived from it. It makes a simultaneous logout win, whichever write comes first.
 */
export const requireLiveSession = ({ key }: Pick<Caller, 'key'>, otherwise?: () => Error): Write => ({
  ConditionCheck: {
    Key: key,
    ConditionExpression: 'attribute_exists(pk) AND expiresAt > :now',
    ExpressionAttributeValues: { ':now': Date.now() },
  },
  ...(otherwise && { otherwise }),
})

/**
 * Revokes an access_token for the client that it was issued to; a sign-in's own token is revoked together
 * with every token derived from it (RFC 7009 §2.1). Unknown text is not an error (§2.2). A token of another
 * client is refused with `invalid_grant` and keeps working.
 */
export async function revokeToken(token: string, clientId: string): Promise<void> {
  if (claimedUserId(token) !== undefined) await revokeTokenByKey(tokenKey(token), clientId)
}

/** Like revokeToken, for a caller that knows only the key of the token's item. */
export async function revokeTokenByKey(key: Key, clientId: string): Promise<void> {
  const token = toToken(await readItem(key, { consistent: true }))
  if (token === undefined) return
  if (token.clientId !== clientId) throw new Failure('invalid_grant')
  if (token.firstParty) await endSession(token.userId, token.sessionId)
  else await writeItem({ Delete: { Key: key } })
}

/** Ends a session: its first-party access_token and every token derived from it stop working. */
export const endSession = (userId: number, sessionId: string): Promise<void> =>
  deleteTokens(userId, sessionId)

/**
 * Ends all sessions of a user. Call it after the write that ends all login tickets: a sign-in uses its ticket
 * up in the transaction that issues its token, so no earlier sign-in gets a token afterwards.
 */
export const endAllSessions = (userId: number): Promise<void> => deleteTokens(userId)

const deleteBatchSize = 25

/**
 * Maximum number of rounds in which tokens are deleted. Only a user whose tokens are added as fast as they
 * are deleted can reach it, at 10,000 tokens.
 */
const maxRounds = 400

const StoredToken = v.object({ ...Key.entries, firstParty: v.boolean() })

/**
 * Deletes every token of a session, or of the user if no session is given, and queries again until none is
 * left. The next query finds a token that was derived meanwhile; once the session's own token is deleted,
 * requireLiveSession prevents further ones. That token goes last, because a logout that dies before can only
 * be repeated with it.
 */
async function deleteTokens(userId: number, sessionId?: string): Promise<void> {
  for (let round = 0; round < maxRounds; round += 1) {
    const query = {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': tokens.partition({ userId }), ':prefix': tokenPrefix(sessionId) },
      ConsistentRead: true,
    }
    const found = v.parse(v.array(StoredToken), await queryFirst(query, deleteBatchSize))
    if (found.length === 0) return
    const derived = found.filter((token) => !token.firstParty)
    await deleteAll(derived)
    if (derived.length === 0 || found.length < deleteBatchSize)
      await deleteAll(found.filter((token) => token.firstParty))
  }
  throw new Error('tokens are being added as fast as they are deleted')
}

const deleteAll = (keys: readonly Key[]) =>
  Promise.all(keys.map(({ pk, sk }) => writeItem({ Delete: { Key: { pk, sk } } })))
