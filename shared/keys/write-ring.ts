import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { db, tableName } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { type SigningKeySet, signingKeySetKey } from './key-set.ts'

/**
 * How long the write may take, retries included: with the clocks' differences it stays within `commitSlackMilliseconds`, on which the
 * instants inside the ring rely.
 */
const longestWriteMilliseconds = 2_000

/** Reasons for which nothing was written because somebody else was first, or is at it. */
const lost = new Set(['ConditionalCheckFailed', 'TransactionConflict'])

/**
 * Writes a ring in place of the one that was read, and what goes with it, in one transaction; false, with nothing
 * written, where the ring has changed since it was read.
 */
export async function writeKeySet(
  read: SigningKeySet,
  next: Omit<SigningKeySet, 'version'>,
  beside: Write[],
): Promise<boolean> {
  const ring: Write = {
    Put: {
      TableName: tableName(),
      Item: { ...next, version: read.version + 1, ...signingKeySetKey },
      ...(read.version === 0
        ? { ConditionExpression: 'attribute_not_exists(pk)' }
        : {
            ConditionExpression: 'version = :read',
            ExpressionAttributeValues: { ':read': read.version },
          }),
    },
  }
  try {
    await db.send(new TransactWriteCommand({ TransactItems: [ring, ...beside] }), {
      abortSignal: AbortSignal.timeout(longestWriteMilliseconds),
    })
    return true
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error
    if (error.CancellationReasons?.some(({ Code }) => Code !== undefined && lost.has(Code))) return false
    throw error
  }
}
