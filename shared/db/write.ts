import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { setTimeout as wait } from 'node:timers/promises'
import { Failure } from '../errors.ts'
import { db } from './table.ts'

export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** A condition of a transaction did not hold: nothing was written. */
export class ConditionFailed extends Error {
  override readonly name = 'ConditionFailed'
  /** For each member of the transaction, in order, whether its condition failed. */
  readonly failed: boolean[]
  /** The items as they stood, where the member asked for them with `ReturnValuesOnConditionCheckFailure: 'ALL_OLD'`. */
  readonly items: (Record<string, unknown> | undefined)[]

  constructor(failed: boolean[], items: (Record<string, unknown> | undefined)[]) {
    super('a condition of the transaction failed')
    this.failed = failed
    this.items = items
  }
}

/** Reasons for which the same transaction may succeed a moment later. */
const passing = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
])

const attempts = 12
const longestWaitMilliseconds = 400

/**
 * Writes all items or none. The SDK does not retry a cancelled transaction, so this does: with full jitter and a bound,
 * when every reason is a conflict or throttling. Throws ConditionFailed when a condition did not hold, and
 * `unavailable` when the bound is reached.
 *
 * A ClientRequestToken makes the SDK's own repetitions of one attempt count once.
 */
export async function transact(items: Write[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await db.send(
        new TransactWriteCommand({ TransactItems: items, ClientRequestToken: crypto.randomUUID() }),
      )
      return
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error
      const reasons = error.CancellationReasons ?? []
      if (reasons.some(({ Code }) => Code === 'ConditionalCheckFailed')) throw conditionFailed(error)
      const retryable = reasons.every(({ Code = 'None' }) => Code === 'None' || passing.has(Code))
      if (!retryable) throw error
      if (attempt === attempts) throw new Failure('unavailable', { retryAfterSeconds: 1, cause: error })
      await wait(Math.random() * Math.min(longestWaitMilliseconds, 10 * 2 ** attempt))
    }
  }
}

function conditionFailed({ CancellationReasons = [] }: TransactionCanceledException): ConditionFailed {
  return new ConditionFailed(
    CancellationReasons.map(({ Code }) => Code === 'ConditionalCheckFailed'),
    // The document client translates answers, not errors.
    CancellationReasons.map(({ Item }) => Item && unmarshall(Item, { wrapNumbers: true })),
  )
}
