import * as v from 'valibot'
import { sessionPartition, tokenPrefix } from './access-token.ts'
import { queryFirst } from '../db/read.ts'
import { writeItem } from '../db/write.ts'

const deleteBatchSize = 25

/** Rounds after which something must be adding tokens as fast as they are deleted. */
const maxRounds = 400

const StoredKey = v.object({ pk: v.string(), sk: v.string() })

/**
 * Deletes every token of a session, or of all sessions of the user, and looks again until there is none. A token that was derived while this ran is
 * found by the next look: once the token that it derives from is gone, no other can follow (session-must-live.ts).
 */
export async function deleteTokens(userId: number, sessionId?: string): Promise<void> {
  for (let round = 0; round < maxRounds; round += 1) {
    const query = {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': sessionPartition(userId), ':prefix': tokenPrefix(sessionId) },
      ConsistentRead: true,
    }
    const tokens = await queryFirst(query, deleteBatchSize)
    if (tokens.length === 0) return
    const keys = v.parse(v.array(StoredKey), tokens)
    await Promise.all(keys.map((Key) => writeItem({ Delete: { Key } })))
  }
  throw new Error('tokens are being added as fast as they are deleted')
}
