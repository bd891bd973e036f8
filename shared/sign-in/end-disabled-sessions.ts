import { readUser, clearRevocationDue } from '../users/user.ts'
import { endAllSessions } from '../tokens/access-token.ts'

/**
 * Revokes all tokens of a user who has been disabled since that was last done. What is due is noted in the write that
 * disables and struck out only afterwards, so that a crash in between leaves it due, whatever happens to the user meanwhile.
 */
export async function revokeDisabledUserTokens(userId: number): Promise<void> {
  const due = (await readUser(userId, { consistent: true }))?.revocationDue
  if (due === undefined) return
  await endAllSessions(userId)
  await clearRevocationDue(userId, due)
}
