import { deleteTokens } from './delete-tokens.ts'

/** Ends a session: its first-party access_token and every token derived from it stop working. */
export const endSession = (userId: number, sessionId: string): Promise<void> =>
  deleteTokens(userId, sessionId)
