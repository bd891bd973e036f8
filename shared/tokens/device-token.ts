import { createHash, randomUUID } from 'node:crypto'
import { issuer } from './issuer.ts'
import type { Scope } from './scopes.ts'
import { signJwt } from './sign-jwt.ts'
import { userClaims } from './user-claims.ts'

/** What a device_token says. Instants are epoch milliseconds. */
export interface DeviceTokenGrant {
  userId: number
  /** The audience. */
  clientId: string
  sessionId: string
  scopes: readonly Scope[]
  /**
   * When the access_token of the grant expires, and the device_token with it. Never later than the moment of the call
   * plus `accessTokenTtlSeconds`: the key set keeps a key for as long as that allows.
   */
  expiresAt: number
  authenticatedAt: number
  /** The access_token that is given out with this device_token, bound to it by `at_hash`. */
  accessToken?: string | undefined
  /** The client's own value; becomes a claim exactly when one was sent. */
  nonce?: string | undefined
  /** Told only under the scope `email`. */
  email?: string | undefined
  /** Told as `name`, only under the scope `profile`. */
  nickname?: string | undefined
}

/** Signs a device_token: an ID Token (OpenID Connect Core §2), RS256, by the active signing key. */
export async function signDeviceToken(grant: DeviceTokenGrant): Promise<string> {
  return signJwt(deviceTokenClaims(grant, Date.now()))
}

/** The claims of a device_token that is issued at `now`. */
export function deviceTokenClaims(grant: DeviceTokenGrant, now: number): Record<string, unknown> {
  const { accessToken, nonce, email, nickname, scopes } = grant
  return {
    iss: issuer(),
    sub: String(grant.userId),
    aud: grant.clientId,
    azp: grant.clientId,
    exp: Math.floor(grant.expiresAt / 1000),
    iat: Math.floor(now / 1000),
    auth_time: Math.floor(grant.authenticatedAt / 1000),
    jti: randomUUID(),
    sid: grant.sessionId,
    // Every sign-in is a password and a one-time code (RFC 8176 §2).
    amr: ['pwd', 'otp'],
    ...(accessToken === undefined ? {} : { at_hash: accessTokenHash(accessToken) }),
    ...(nonce === undefined ? {} : { nonce }),
    ...userClaims({ email, nickname }, scopes),
  }
}

/** The left half of the access_token's SHA-256, base64url (OpenID Connect Core §3.1.3.6). */
const accessTokenHash = (accessToken: string): string =>
  createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url')
