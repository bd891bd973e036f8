import { createHash, randomUUID } from 'node:crypto'
import { issuer } from '../env.ts'
import { settings } from '../settings.ts'
import { authenticationContext } from './authentication-context.ts'
import { type Scope, userClaims } from './scopes.ts'
import { signJwt } from '../keys/sign.ts'

/** The data that a device_token is issued for. Instants are epoch milliseconds. */
export interface DeviceTokenGrant {
  userId: number
  /** The client that is the token's audience, `aud`. */
  clientId: string
  sessionId: string
  scopes: readonly Scope[]
  /**
   * Expiry: at most `accessTokenTtlSeconds` from now. After that time, the token's key may be absent from the
   * JWKS.
   */
  expiresAt: number
  authenticatedAt: number
  /** The access_token that this device_token is issued with; `at_hash` binds the two. */
  accessToken: string
  /** The `nonce` of the authorization request; becomes a claim only if one was sent. */
  nonce?: string | undefined
  /** The email address; a claim only with the scope `email`. */
  email?: string | undefined
  /** The nickname, claims `name` and `nickname`; only with the scope `profile`. */
  nickname?: string | undefined
}

/**
 * The expiry of tokens that are issued at `now`, both in epoch milliseconds. It is in whole seconds, so that
 * `expire` and the `exp` of the device_token are the same instant.
 */
export const tokenExpiry = (now: number): number =>
  (Math.floor(now / 1000) + settings().accessTokenTtlSeconds) * 1000

/** Issues a device_token: an ID Token (OpenID Connect Core §2), signed with RS256 by the active key. */
export async function signDeviceToken(grant: DeviceTokenGrant): Promise<string> {
  const { accessToken, nonce, scopes } = grant
  return signJwt({
    iss: issuer(),
    sub: String(grant.userId),
    aud: grant.clientId,
    azp: grant.clientId,
    exp: Math.floor(grant.expiresAt / 1000),
    iat: Math.floor(Date.now() / 1000),
    auth_time: Math.floor(grant.authenticatedAt / 1000),
    jti: randomUUID(),
    sid: grant.sessionId,
    ...authenticationContext,
    // The left half of the access_token's SHA-256 (OpenID Connect Core §3.1.3.6).
    at_hash: createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url'),
    ...(nonce !== undefined && { nonce }),
    ...userClaims(grant, scopes),
  })
}
