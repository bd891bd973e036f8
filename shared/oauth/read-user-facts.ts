import { readUser } from '../users/user.ts'
import type { Scope, UserProfile } from '../tokens/scopes.ts'

/** What claims are made of, read only where the scopes allow to tell any of it. */
export async function readUserFacts(userId: number, scopes: readonly Scope[]): Promise<UserProfile> {
  if (!scopes.includes('email') && !scopes.includes('profile')) return {}
  const user = await readUser(userId)
  return user === undefined ? {} : { email: user.email, nickname: user.nickname }
}
