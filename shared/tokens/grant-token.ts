import type * as v from 'valibot'
import { type Key, ttlAfter } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { newAccessToken, newSessionId, tokenKey, type TokenItem } from './access-token.ts'
import type { Scope } from './scopes.ts'

/** What an access_token is to stand for. Instants are epoch milliseconds. */
export interface AccessTokenGrant {
  userId: number
  /** The sign-in that it derives from; a new one where there is none. */
  sessionId?: string | undefined
  clientId: string
  scopes: readonly Scope[]
  /** Whether the password flow itself gives it. */
  firstParty: boolean
  expiresAt: number
  authenticatedAt: number
}

/** A new access_token and the write that makes it work, for the transaction that consumes what it is given for. */
export interface IssuedToken {
  accessToken: string
  sessionId: string
  /** Key of the token's item, by which it can be revoked without being known. */
  key: Key
  put: Write
}

/** Makes an access_token; it works once `put` has been written. */
export function issueAccessToken(grant: AccessTokenGrant): IssuedToken {
  const sessionId = grant.sessionId ?? newSessionId()
  const accessToken = newAccessToken(grant.userId, sessionId)
  const key = tokenKey(accessToken)
  const put: Write = {
    Put: {
      Item: {
        ...key,
        user_id: grant.userId,
        session_id: sessionId,
        client_id: grant.clientId,
        scopes: [...grant.scopes],
        first_party: grant.firstParty,
        expires_at: grant.expiresAt,
        authenticated_at: grant.authenticatedAt,
        ttl: ttlAfter(grant.expiresAt),
      } satisfies Key & Stored & { ttl: number },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  }
  return { accessToken, sessionId, key, put }
}

/** A token's item on its way into the table. */
type Stored = v.InferOutput<typeof TokenItem>
