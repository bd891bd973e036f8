import { deleteTokens } from './delete-tokens.ts'

/**
 * Ends every session of a user, as when the user is disabled. What gives out tokens checks in its own transaction that
 * the user is not disabled, so that none is given afterwards.
 */
export const revokeAllTokens = (userId: number): Promise<void> => deleteTokens(userId)
