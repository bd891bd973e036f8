import { kms } from '../../../shared/aws/kms.ts'
import { db } from '../../../shared/db/table.ts'

/** Calls of one operation to DynamoDB and KMS, and the capacity units that they use. */
export interface Measured {
  /** Number of calls to DynamoDB. */
  calls: number
  readUnits: number
  writeUnits: number
  /** Number of RSA signatures by KMS. */
  signatures: number
  /** Number of KMS requests with symmetric and HMAC keys. */
  symmetric: number
}

interface Units {
  Table?: { CapacityUnits?: number }
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits?: number }>
}

/** The part of an AWS SDK client's middleware stack that the measurement uses. */
interface Stack {
  add: (middleware: Middleware, options: { step: 'initialize'; name: string; override: true }) => void
  remove: (name: string) => boolean
}
type Next = (args: { input: Input }) => Promise<{ output: { ConsumedCapacity?: Units | Units[] } }>
type Middleware = (next: Next, context: { commandName?: string }) => Next

const name = 'measureCapacity'

const sumOf = (numbers: (number | undefined)[]): number =>
  numbers.reduce<number>((sum, number = 0) => sum + number, 0)

interface Input {
  ReturnConsumedCapacity?: string
  TransactItems?: unknown[]
  Key?: unknown
  RequestItems?: Record<string, { Keys?: unknown[]; ConsistentRead?: boolean }>
  ConsistentRead?: boolean
}

/**
 * Computes the minimum capacity units that AWS bills: two per member of a transaction, and one read for a
 * missing item.
 */
function minUnits({ TransactItems, Key, RequestItems = {}, ConsistentRead }: Input): number {
  const one = (consistent: boolean | undefined) => (consistent === true ? 1 : 0.5)
  if (TransactItems !== undefined) return 2 * TransactItems.length
  const batches = Object.values(RequestItems).map(
    ({ Keys = [], ConsistentRead: consistent }) => Keys.length * one(consistent),
  )
  return sumOf(batches) + (Key === undefined ? 0 : one(ConsistentRead))
}

/**
 * Runs an operation in this process and adds up its calls to DynamoDB and KMS. DynamoDB Local counts fewer
 * capacity units than AWS for transactions and missing items, so AWS's minimum replaces smaller counts. The
 * result is exact, because all items here are at most 1 KB. Units of an index are included.
 */
export async function measure(run: () => Promise<unknown>): Promise<Measured> {
  const total: Measured = { calls: 0, readUnits: 0, writeUnits: 0, signatures: 0, symmetric: 0 }
  const count: Middleware =
    (next, { commandName = '' }) =>
    async (args) => {
      const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'INDEXES' } })
      const writes = /^(Put|Update|Delete|TransactWrite)/.test(commandName)
      total.calls += 1
      const consumed = [answer.output.ConsumedCapacity ?? []].flat()
      const table = sumOf(consumed.map(({ Table }) => Table?.CapacityUnits))
      const indexes = consumed.flatMap(({ GlobalSecondaryIndexes: own = {} }) => Object.values(own))
      const units =
        Math.max(table, minUnits(args.input)) + sumOf(indexes.map(({ CapacityUnits }) => CapacityUnits))
      total[writes ? 'writeUnits' : 'readUnits'] += units
      return answer
    }
  const watch: Middleware =
    (next, { commandName }) =>
    (args) => {
      total[commandName === 'SignCommand' ? 'signatures' : 'symmetric'] += 1
      return next(args)
    }
  const stacks = [db.middlewareStack as unknown as Stack, kms.middlewareStack as unknown as Stack] as const
  stacks[0].add(count, { step: 'initialize', name, override: true })
  stacks[1].add(watch, { step: 'initialize', name, override: true })
  try {
    await run()
  } finally {
    for (const stack of stacks) stack.remove(name)
  }
  return total
}
