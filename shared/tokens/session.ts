import * as v from 'valibot'
import { queryFirst, readItems } from '../db/read.ts'
import { Integer, Key } from '../db/table.ts'
import { type Write, writeItem } from '../db/write.ts'
import { Failure, OptimisticLockError } from '../errors.ts'
import {
  type Caller,
  claimedUserId,
  keyOfDigest,
  requireGeneration,
  TokenItem,
  tokenKey,
  tokens,
} from './access-token.ts'

/** Maximum number of tokens derived from one session; a further one ends the oldest. */
const maxDerived = 100

/** An access_token as stored, with its key. It is the session's own token, or a derived one. */
const StoredToken = v.object({ ...TokenItem.entries, ...Key.entries })

const readTokens = async (userId: number, sessionId: string) => {
  const query = {
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: {
      ':pk': tokens.partition({ userId }),
      ':prefix': `${tokens.sortKeyPrefix}${sessionId}#`,
    },
    ConsistentRead: true,
  }
  return v.parse(v.array(StoredToken), await queryFirst(query, maxDerived + 1))
}

/** A condition for the transaction that issues an authorization code: the user's session has not ended. */
export const requireLiveSession = ({ key }: Pick<Caller, 'key'>, otherwise: () => Error): Write => ({
  ConditionCheck: {
    Key: key,
    ConditionExpression: 'attribute_exists(pk) AND expiresAt > :now',
    ExpressionAttributeValues: { ':now': Date.now() },
  },
  otherwise,
})

/** The session that an authorization code names. It must be checked, because a stored code may be forged. */
export const NamedSession = v.object({
  userId: Integer,
  sessionId: v.string(),
  /**
   * Digest of the first-party access_token with which the user gave consent. Nobody can compute it who has
   * not seen the token, so a code proves that the user's browser was there when it was issued.
   */
  sessionDigest: v.string(),
  sessionExpiresAt: Integer,
  authenticatedAt: Integer,
})
export type NamedSession = v.InferOutput<typeof NamedSession>

/** Key of the access_token that a NamedSession's digest proves; no token has it if the digest is invented. */
const sessionKeyOf = ({ sessionDigest: digest, ...session }: NamedSession): Key =>
  keyOfDigest({ ...session, digest })

/** Thrown if another token was derived from the session since the session was read. */
export class SessionChanged extends OptimisticLockError {
  override readonly name = 'SessionChanged'
}

/**
 * Prepares the writes that add a derived token to a session. Throws `invalid_grant` if the session has ended,
 * or does not match `named`. The writes fail with `invalid_grant` if it ends later, and with SessionChanged
 * if another token was derived meanwhile.
 */
export async function readDerivingSession(named: NamedSession) {
  const { userId, sessionId, sessionExpiresAt, authenticatedAt } = named
  const sessionKey = sessionKeyOf(named)
  const found = await readTokens(userId, sessionId)
  const own = found.find(({ pk, sk }) => pk === sessionKey.pk && sk === sessionKey.sk)
  const refuse = () => new Failure('invalid_grant')
  if (own === undefined) throw refuse()
  const derived = found.filter((token) => token !== own).sort((a, b) => b.derived - a.derived)
  const countToken: Write = {
    Update: {
      Key: sessionKey,
      UpdateExpression: 'SET derived = :next',
      ConditionExpression: [
        'userId = :user AND sessionId = :session AND firstParty = :true AND derived = :derived',
        'expiresAt = :expires AND expiresAt > :now AND authenticatedAt = :authenticated',
      ].join(' AND '),
      ExpressionAttributeValues: {
        ':user': userId,
        ':session': sessionId,
        ':true': true,
        ':derived': own.derived,
        ':next': own.derived + 1,
        ':expires': sessionExpiresAt,
        ':authenticated': authenticatedAt,
        ':now': Date.now(),
      },
    },
    otherwise: (stored) =>
      stored === undefined || v.parse(TokenItem, stored).derived === own.derived
        ? refuse()
        : new SessionChanged('another token was derived'),
  }
  return {
    generation: own.generation,
    /** The sequence number of the next token that is derived from the session. */
    next: own.derived + 1,
    /** The writes that check the session, count the new token and delete the oldest tokens over the limit. */
    writes: [
      countToken,
      requireGeneration(userId, own.generation, refuse),
      ...derived.slice(maxDerived - 1).map(({ pk, sk }): Write => ({ Delete: { Key: { pk, sk } } })),
    ],
  }
}

/**
 * Revokes an access_token. If it is a sign-in's own token, also revokes every token derived from it (RFC 7009
 * §2.1). Ignores a token that is not stored (§2.2). Throws `invalid_grant`, and revokes nothing, if the token
 * is another client's.
 */
export async function revokeToken(token: string, clientId: string): Promise<void> {
  if (claimedUserId(token) === undefined) return
  const key = tokenKey(token)
  const [stored] = await readStored(key)
  if (stored === undefined) return
  if (stored.clientId !== clientId) throw new Failure('invalid_grant')
  if (stored.firstParty) await endSession(stored.userId, stored.sessionId)
  else await writeItem({ Delete: { Key: key } })
}

/**
 * Revokes the token with this key, but only if the token was derived from this session for this client. Does
 * nothing if no session has this digest: then the session has ended with all its tokens, or was invented.
 */
export async function revokeDerived(
  key: Key,
  { clientId, ...named }: NamedSession & Pick<TokenItem, 'clientId'>,
): Promise<void> {
  const { userId, sessionId } = named
  const [stored, own] = await readStored(key, sessionKeyOf(named))
  const isDerived = stored?.sessionId === sessionId && !stored.firstParty && own?.firstParty
  if (isDerived && stored.userId === userId && stored.clientId === clientId)
    await writeItem({ Delete: { Key: key } })
}

const readStored = async (...keys: Key[]): Promise<(TokenItem | undefined)[]> => {
  const items = await readItems(keys, { consistent: true })
  return items.map((item) => item && v.parse(TokenItem, item))
}

/**
 * Ends a session with all its tokens. Deletes the session's own token last, because only this token can
 * repeat an interrupted logout. A second round deletes tokens that were derived during the first.
 */
export async function endSession(userId: number, sessionId: string): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const found = await readTokens(userId, sessionId)
    await deleteAll(found.filter((token) => !token.firstParty))
    await deleteAll(found.filter((token) => token.firstParty))
  }
}

const deleteAll = (keys: readonly Key[]) =>
  Promise.all(keys.map(({ pk, sk }) => writeItem({ Delete: { Key: { pk, sk } } })))
