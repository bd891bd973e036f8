/** Every scope, in the order in which they are listed. */
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

/** What an endpoint demands of a token: a scope, or to be one of the password flow. */
export type RequiredScope = Scope | 'first-party'
