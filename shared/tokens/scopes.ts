/** Every scope, in the order in which documents list them. */
export const scopes = [
  'openid',
  'profile',
  'email',
  'account.read',
  'community.read',
  'community.write',
  'dashboard.read',
  'deposit.read',
] as const
export type Scope = (typeof scopes)[number]

/** What an endpoint requires of an access_token: a scope, or that the password flow itself issued it. */
export type RequiredScope = Scope | 'first-party'

/** The user data that claims are made from. */
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

/** Builds the claims that the scopes allow: `email` the verified email address, `profile` the nickname. */
export const userClaims = ({ email, nickname }: UserProfile, granted: readonly Scope[]): UserClaims => ({
  ...(email !== undefined && granted.includes('email') ? { email, email_verified: true } : {}),
  ...(nickname !== undefined && granted.includes('profile') ? { name: nickname } : {}),
})
