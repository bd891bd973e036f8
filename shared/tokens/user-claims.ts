import type { Scope } from './scopes.ts'

/** What may be told of a user, as far as it is known. */
export interface UserProfile {
  email?: string | undefined
  nickname?: string | undefined
}

/** Claims about a user that need a scope of their own (OpenID Connect Core §5.4). */
export interface UserClaims {
  email?: string
  email_verified?: true
  name?: string
}

/** The claims that the scopes allow: the address, which registration has verified, under `email`, the nickname under `profile`. */
export const userClaims = ({ email, nickname }: UserProfile, scopes: readonly Scope[]): UserClaims => ({
  ...(email !== undefined && scopes.includes('email') ? { email, email_verified: true } : {}),
  ...(nickname !== undefined && scopes.includes('profile') ? { name: nickname } : {}),
})
