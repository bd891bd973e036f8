import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import {
  DeleteCommand,
  PutCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { Failure, OptimisticLockError } from '../errors.ts'
import { retry } from '../retry.ts'
import { db, type Item, tableName } from './table.ts'

type SdkWrite = NonNullable<TransactWriteCommandInput['TransactItems']>[number]
type Without<T> = Omit<NonNullable<T>, 'TableName' | 'ReturnValuesOnConditionCheckFailure'>

/** One write or condition check of a transaction. The table's name is added when the write is sent. */
export interface Write {
  Put?: Without<SdkWrite['Put']>
  Update?: Without<SdkWrite['Update']>
  Delete?: Without<SdkWrite['Delete']>
  ConditionCheck?: Without<SdkWrite['ConditionCheck']>
  /** Creates the error to throw when the write's condition fails; `stored` is the item at that time. */
  otherwise?: (stored: Item | undefined) => Error
  /**
   * Whether the stored item shows that this write has taken effect. writeItem calls this after a failed
   * condition, because the SDK may have repeated the write. Transactions use a request token instead.
   */
  isDone?: (stored: Item | undefined) => boolean
}

/** A write whose condition did not hold. `stored` is the item at that time; undefined if there was none. */
interface FailedWrite {
  write: Write
  stored: Item | undefined
}

/** A condition failed, because another writer was faster. `otherwise` can replace this error. */
export class ConditionFailed extends OptimisticLockError {
  override readonly name = 'ConditionFailed'
  override readonly message = 'a condition did not hold'
}

/** Maximum number of writes in one transaction (AWS: TransactWriteItems). */
export const maxTransactionWrites = 100

/**
 * Writes all or nothing. If a condition fails, throws the error that the write's `otherwise` returns, or
 * ConditionFailed if it has none. Throws `unavailable` if conflicts or throttling last too long.
 */
export async function transact(writes: readonly Write[]): Promise<void> {
  const failures = await tryTransact(writes)
  if (failures.length > 0) throw failureOf(failures)
}

/**
 * Like transact, but resolves with the writes whose conditions failed; an empty list means that everything
 * was written. If `abortSignal` ends the attempts, throws an AbortError.
 */
export async function tryTransact(
  writes: readonly Write[],
  { abortSignal }: { abortSignal?: AbortSignal } = {},
): Promise<FailedWrite[]> {
  const TransactItems = writes.map(toSdkWrite)
  // This token lets the transaction take effect only once, however often the SDK sends it.
  let ClientRequestToken = crypto.randomUUID()
  let mayBeDone = false
  const send = async (): Promise<void> => {
    try {
      await db.send(
        new TransactWriteCommand({ TransactItems, ClientRequestToken }),
        abortSignal && { abortSignal },
      )
    } catch (error) {
      // If the SDK has repeated the call, keep the token: the first call may have succeeded.
      mayBeDone ||= wasRepeated(error)
      if (!mayBeDone) ClientRequestToken = crypto.randomUUID()
      throw error
    }
  }
  try {
    await retry(send, isPassingCancellation)
    return []
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error
    const failures = failedWrites(writes, error)
    if (failures.length > 0) return failures
    throw isPassingCancellation(error) ? unavailable(error) : error
  }
}

/**
 * Performs one write, at half the price of a transaction. Throws the same errors as transact. With
 * `returnNew`, resolves with the item's attributes after the update.
 */
export async function writeItem(write: Write, options: { returnNew?: true } = {}): Promise<Item | undefined> {
  const { Put, Update, Delete } = toSdkWrite(write)
  const send = (): Promise<{ Attributes?: Item | undefined }> => {
    if (Put !== undefined) return db.send(new PutCommand(Put))
    if (Delete !== undefined) return db.send(new DeleteCommand(Delete))
    if (Update === undefined) throw new Error('a ConditionCheck is no write by itself')
    return db.send(new UpdateCommand({ ...Update, ...(options.returnNew && { ReturnValues: 'ALL_NEW' }) }))
  }
  try {
    return (await retry(send, isConflict)).Attributes
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) {
      const stored = fromSdk(error.Item)
      if (write.isDone?.(stored)) return stored
      throw failureOf([{ write, stored }])
    }
    throw isConflict(error) ? unavailable(error) : error
  }
}

/** Performs one write if its condition holds. Resolves with whether the condition held. */
export async function writeIf(write: Write): Promise<boolean> {
  try {
    await writeItem(write)
    return true
  } catch (error) {
    if (error instanceof ConditionFailed) return false
    throw error
  }
}

/** Whether a single write conflicted with a transaction on the same item; the SDK does not retry that. */
const isConflict = (error: unknown): boolean =>
  error instanceof Error && error.name === 'TransactionConflictException'

/** The write of a new item; its condition fails if an item with that key exists. */
export const putNew = (item: Item): Write => ({
  Put: { Item: item, ConditionExpression: 'attribute_not_exists(pk)' },
})

/**
 * The write that replaces an item that has the attribute `version`. `readVersion` is the version that was
 * read, or 0 if there was no item. The condition fails if another version is stored.
 */
export const putVersioned = (item: Item, readVersion: number): Write =>
  readVersion === 0
    ? putNew(item)
    : {
        Put: {
          Item: item,
          ConditionExpression: '#version = :version',
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: { ':version': readVersion },
        },
      }

function toSdkWrite(write: Write): SdkWrite {
  const common = { TableName: tableName(), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }
  return {
    ...(write.Put && { Put: { ...common, ...write.Put } }),
    ...(write.Update && { Update: { ...common, ...write.Update } }),
    ...(write.Delete && { Delete: { ...common, ...write.Delete } }),
    ...(write.ConditionCheck && { ConditionCheck: { ...common, ...write.ConditionCheck } }),
  }
}

/** Cancellation reasons after which the same transaction may soon succeed (AWS: TransactWriteItems). */
const passingReasons = new Set([
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
])

const isPassingCancellation = (error: unknown): boolean =>
  error instanceof TransactionCanceledException &&
  (error.CancellationReasons ?? []).every(({ Code = 'None' }) => passingReasons.has(Code))

/** Whether the SDK tried the failed call more than once. */
const wasRepeated = (error: unknown): boolean =>
  error instanceof TransactionCanceledException && (error.$metadata.attempts ?? 1) > 1

const unavailable = (cause: unknown): Failure => new Failure('unavailable', { retryAfterSeconds: 1, cause })

const failedWrites = (writes: readonly Write[], error: TransactionCanceledException): FailedWrite[] =>
  writes.flatMap((write, i) => {
    const reason = error.CancellationReasons?.[i]
    return reason?.Code === 'ConditionalCheckFailed' ? [{ write, stored: fromSdk(reason.Item) }] : []
  })

/** Decodes the stored item of a failed condition: the document client does not decode items in errors. */
const fromSdk = (item: Parameters<typeof unmarshall>[0] | undefined): Item | undefined =>
  item && unmarshall(item, { wrapNumbers: true })

/** Returns the error to throw when conditions failed: the error of the first failed write. */
export const failureOf = (failures: readonly FailedWrite[]): Error =>
  failures[0]?.write.otherwise?.(failures[0].stored) ?? new ConditionFailed()
