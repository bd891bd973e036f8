import { kms } from '../../shared/aws/kms.ts'
import { db } from '../../shared/db/table.ts'

/** The names of the calls to DynamoDB and KMS, in order, and the write units that DynamoDB reported. */
export interface Calls {
  names: string[]
  writeUnits: number
}

interface Capacity {
  CapacityUnits?: number
}

/** The part of the AWS SDK's middleware stack that is used for measuring. */
interface Stack {
  add: (middleware: Middleware, options: { step: 'initialize'; name: string; override: true }) => void
  remove: (name: string) => boolean
}
type Next = (args: {
  input: { TransactItems?: unknown[] }
}) => Promise<{ output: { ConsumedCapacity?: Capacity | Capacity[] } }>
type Middleware = (next: Next, context: { commandName?: string }) => Next

const name = 'measureCalls'

/** Runs a function and resolves with its AWS calls and the write units that they consumed. */
export async function measureCalls(run: () => Promise<unknown>): Promise<Calls> {
  const calls: Calls = { names: [], writeUnits: 0 }
  const measure: Middleware = (next, { commandName = '' }) => {
    return async (args) => {
      calls.names.push(commandName.replace(/Command$/, ''))
      const answer = await next(args)
      if (/^(Put|Update|Delete|TransactWrite|BatchWrite)/.test(commandName)) {
        const reported = [answer.output.ConsumedCapacity ?? []].flat()
        const units = reported.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0)
        // DynamoDB Local counts a transaction like plain writes. On AWS, each write in a transaction costs
        // twice as much, at least two units.
        calls.writeUnits += Math.max(units, 2 * (args.input.TransactItems?.length ?? 0))
      }
      return answer
    }
  }
  const stacks = [db.middlewareStack as unknown as Stack, kms.middlewareStack as unknown as Stack]
  for (const stack of stacks) stack.add(measure, { step: 'initialize', name, override: true })
  try {
    await run()
  } finally {
    for (const stack of stacks) stack.remove(name)
  }
  return calls
}
