import { kms } from '../../../shared/aws/kms.ts'
import { db } from '../../../shared/db/table.ts'

/** What an operation asks of DynamoDB and KMS. */
export interface Measured {
  /** Calls of DynamoDB. */
  calls: number
  readUnits: number
  writeUnits: number
  /** Signatures with an RSA key. */
  signatures: number
  /** Requests with symmetric and HMAC keys. */
  symmetric: number
}

interface Units {
  Table?: { CapacityUnits?: number }
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits?: number }>
}

/** As much of the SDK's middleware stack as this needs; every client has it. */
interface Stack {
  add: (middleware: Middleware, options: { step: 'initialize'; name: string; override: true }) => void
  remove: (name: string) => boolean
}
type Next = (args: { input: Input }) => Promise<{ output: { ConsumedCapacity?: Units | Units[] } }>
type Middleware = (next: Next, context: { commandName?: string }) => Next

const name = 'measureCapacity'

const add = (numbers: (number | undefined)[]): number =>
  numbers.reduce<number>((sum, number = 0) => sum + number, 0)

interface Input {
  ReturnConsumedCapacity?: string
  TransactItems?: unknown[]
  Key?: unknown
  RequestItems?: Record<string, { Keys?: unknown[]; ConsistentRead?: boolean }>
  ConsistentRead?: boolean
}

/** What AWS bills at least: two units for a member of a transaction, and a read for an item that is not there. */
function leastUnits({ TransactItems, Key, RequestItems = {}, ConsistentRead }: Input): number {
  const one = (consistent: boolean | undefined) => (consistent === true ? 1 : 0.5)
  if (TransactItems !== undefined) return 2 * TransactItems.length
  const batches = Object.values(RequestItems).map(
    ({ Keys = [], ConsistentRead: consistent }) => Keys.length * one(consistent),
  )
  return add(batches) + (Key === undefined ? 0 : one(ConsistentRead))
}

/**
 * Runs something in this process and adds up its calls. DynamoDB Local counts fewer units for the members of a transaction,
 * and none for an item that is not there, so where it counts less than AWS bills at least, that is taken. It holds for members up to
 * 1 KB, as all of ours are. What an index takes comes on top.
 */
export async function measure(run: () => Promise<unknown>): Promise<Measured> {
  const sum: Measured = { calls: 0, readUnits: 0, writeUnits: 0, signatures: 0, symmetric: 0 }
  const count: Middleware =
    (next, { commandName = '' }) =>
    async (args) => {
      const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'INDEXES' } })
      const writes = /^(Put|Update|Delete|TransactWrite)/.test(commandName)
      sum.calls += 1
      const consumed = [answer.output.ConsumedCapacity ?? []].flat()
      const table = add(consumed.map(({ Table }) => Table?.CapacityUnits))
      const indexes = consumed.flatMap(({ GlobalSecondaryIndexes: own = {} }) => Object.values(own))
      const units =
        Math.max(table, leastUnits(args.input)) + add(indexes.map(({ CapacityUnits }) => CapacityUnits))
      sum[writes ? 'writeUnits' : 'readUnits'] += units
      return answer
    }
  const watch: Middleware =
    (next, { commandName }) =>
    (args) => {
      sum[commandName === 'SignCommand' ? 'signatures' : 'symmetric'] += 1
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
  return sum
}
