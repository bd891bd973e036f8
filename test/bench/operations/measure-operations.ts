import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { functionEntries } from '../../../infra/bundle/functions.ts'
import type { FunctionModel } from '../../../infra/local/model.ts'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { db, tableName } from '../../../shared/db/table.ts'
import { makeCalls } from '../../infra/grants/calls.ts'
import { billCall, noBill } from '../../support/bill-call.ts'
import { tamperCalls } from '../../support/tamper-calls.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'
import type { Row, Table } from '../table.ts'
import { describeCost, type Usage } from './describe-cost.ts'
import { describeLoad, describeQuotas, describeSizes } from './load.ts'
import { type Operation, operations } from './operations.ts'

type Handler = (event: object, context: object) => Promise<unknown>
type Next = (args: { request: { body: string } }) => Promise<{ output: object }>

/** Thrown to end a scenario after the call that is measured. */
class Measured extends Error {
  override readonly name = 'Measured'
}

/** Functions that are not measured: production traffic never calls them, or they make no AWS calls. */
const unmeasured = ['fallback']

let current: Usage | undefined

/** Keeps in `current` every AWS call of this process, and what AWS would charge for each DynamoDB call. */
function recordCalls(): void {
  tamperCalls(async ({ client, name, perform: send }) => {
    // Answers PutEvents in place of the bus, because the benchmark delivers no events.
    const perform = name === 'PutEventsCommand' ? async () => ({ Entries: [{ EventId: 'bench' }] }) : send
    const usage = current
    if (usage === undefined || client instanceof DynamoDBClient) return perform()
    const startedAt = performance.now()
    try {
      return await perform()
    } finally {
      const service = client.constructor.name.replace(/Client$/, '')
      usage.calls.push({ service, name, startedAt, endedAt: performance.now() })
    }
  })
  const database = new DynamoDBClient(clientOptions())
  const bill =
    (next: Next, { commandName = '' }: { commandName?: string }) =>
    async (args: Parameters<Next>[0]) => {
      const usage = current
      if (usage === undefined) return next(args)
      const input = JSON.parse(Buffer.from(args.request.body).toString()) as object
      const sent = { operation: commandName.replace(/Command$/, ''), input }
      const { answer, bill: billed } = await billCall(database, tableName(), sent, async () => {
        const output = await next(args)
        return { answer: output, body: output.output }
      })
      usage.bills.push(billed)
      return answer
    }
  db.middlewareStack.add(bill as never, { step: 'build', name: 'bill' })
}

/** Measures, within this process, what every operation costs. */
export async function measureOperations(stack: BenchStack): Promise<Table[]> {
  const listed = new Set([...operations.map(({ of }) => of), ...unmeasured])
  const unlisted = stack.functions.filter(({ name }) => !listed.has(name)).map(({ name }) => name)
  if (unlisted.length > 0)
    throw new Error(`add ${unlisted.join(', ')} to test/bench/operations/operations.ts`)
  recordCalls()
  const rows: Row[] = []
  for (const operation of operations) {
    const model = stack.functions.find(({ name }) => name === operation.of)
    if (model === undefined) throw new Error(`there is no function ${operation.of}`)
    const handler = await loadHandler(model)
    // Runs the operation before it is measured, to fill the function's in-memory caches.
    await runOnce(handler, operation)
    const usage = await runOnce(handler, operation)
    rows.push({ operation: operation.title, ...describeCost(operation, model, usage) })
  }
  return [
    {
      name: 'operations',
      title: 'What an operation costs',
      notes: [
        "Units by AWS's billing rule, from the sizes of the items before and after; index entries included.",
        'Chain: the most AWS calls of which each began after the one before had been answered. Lambda is',
        'charged for 5 ms of each of them and for 10 ms of its own, 100 ms where a password is checked.',
        '× floor: what calls the function and the Lambda request, and DynamoDB, by the first two alone.',
        'Kept: what does not expire, with 100 bytes for each item and index entry.',
      ],
      rows,
    },
    describeSizes(rows),
    describeLoad(rows),
    describeQuotas(rows),
  ]
}

async function loadHandler({ name, environment }: FunctionModel): Promise<Handler> {
  Object.assign(process.env, environment)
  const entry = functionEntries().find(
    (one) => one.replace(/^schedule\//, '').replaceAll(/[/.]/g, '-') === name,
  )
  const { handler } = (await import(`../../../functions/${entry ?? name}.ts`)) as { handler: Handler }
  return handler
}

async function runOnce(handler: Handler, { scenario, call, title }: Operation): Promise<Usage> {
  let usage: Usage | undefined
  let made = 0
  const context = { awsRequestId: 'bench', getRemainingTimeInMillis: () => 30_000 }
  const calls = makeCalls(async (payload) => {
    if (usage !== undefined) throw new Measured()
    const own: Usage = { calls: [], bills: [noBill] }
    current = own
    const answer = await handler(JSON.parse(payload) as object, context).finally(() => (current = undefined))
    if (made === call) usage = own
    made += 1
    const text = JSON.stringify(answer) as string | undefined
    return { payload: text ?? 'null' }
  })
  try {
    await scenario(calls)
  } catch (error) {
    if (!(error instanceof Measured)) throw error
  }
  if (usage === undefined) throw new Error(`${title}: its scenario makes fewer calls`)
  return usage
}
