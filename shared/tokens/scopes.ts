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

/** What an endpoint requires of an access_token: a scope, or that it was issued for a password sign-in. */
export type RequiredScope = Scope | 'first-party'

/** Builds the claims that the scopes `email` and `profile` allow (OpenID Connect Core §5.4). */
export const userClaims = (
  { email, nickname }: { email?: string | undefined; nickname?: string | undefined },
  granted: readonly Scope[],
) => ({
  ...(email !== undefined && granted.includes('email') && { email, email_verified: true as const }),
  ...(nickname !== undefined && granted.includes('profile') && { name: nickname, nickname }),
})
