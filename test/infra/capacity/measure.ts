import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { kms } from '../../../shared/aws/kms.ts'
import { db, tableName } from '../../../shared/db/table.ts'
import { billCall } from '../../support/bill-call.ts'

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

/** The part of an AWS SDK client's middleware stack that the measurement uses. */
interface Stack {
  add: (middleware: Middleware, options: { step: 'build'; name: string; override: true }) => void
  remove: (name: string) => boolean
}
type Next = (args: { request: { body: string } }) => Promise<{ output: object }>
type Middleware = (next: Next, context: { commandName?: string }) => Next

const name = 'measureCapacity'

/** Runs an operation in this process, and adds up its calls to DynamoDB and KMS as AWS bills them. */
export async function measure(run: () => Promise<unknown>): Promise<Measured> {
  const total: Measured = { calls: 0, readUnits: 0, writeUnits: 0, signatures: 0, symmetric: 0 }
  const database = new DynamoDBClient(clientOptions())
  const bill: Middleware =
    (next, { commandName = '' }) =>
    async (args) => {
      const sent = {
        operation: commandName.replace(/Command$/, ''),
        input: JSON.parse(args.request.body) as object,
      }
      const billed = await billCall(database, tableName(), sent, async () => {
        const answer = await next(args)
        return { answer, body: answer.output }
      })
      total.calls += 1
      total.readUnits += billed.bill.readUnits
      total.writeUnits += billed.bill.writeUnits
      return billed.answer
    }
  const watch: Middleware =
    (next, { commandName }) =>
    (args) => {
      total[commandName === 'SignCommand' ? 'signatures' : 'symmetric'] += 1
      return next(args)
    }
  const stacks = [db.middlewareStack as unknown as Stack, kms.middlewareStack as unknown as Stack] as const
  stacks[0].add(bill, { step: 'build', name, override: true })
  stacks[1].add(watch, { step: 'build', name, override: true })
  try {
    await run()
  } finally {
    for (const stack of stacks) stack.remove(name)
    database.destroy()
  }
  return total
}
