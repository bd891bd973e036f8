import { type Calls, makeCalls } from '../../infra/grants/calls.ts'
import type { Options } from '../part.ts'
import { median } from '../report/statistics.ts'
import type { Table } from '../report/table.ts'
import type { AwsCall } from '../stack/aws-call.ts'
import { FunctionProcess, toInvocation } from '../stack/function-process.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'
import { describeCost } from './describe-cost.ts'
import type { Operation } from './operations.ts'

/**
 * What one run of an operation took: its AWS calls, its processor time in milliseconds, the bytes it
 * logged.
 */
export interface Usage {
  calls: AwsCall[]
  cpu: number
  logBytes: number
}

/** Thrown to end a scenario after the call that is measured. */
class Measured extends Error {
  override readonly name = 'Measured'
}

/** Functions that nobody calls in operation, or that answer without AWS. */
const unmeasured = ['fallback', 'delete-signing-keys']

/** Measures what every operation costs: part 1. */
export async function measureOperations({ samples, say }: Options, stack: BenchStack): Promise<Table[]> {
  // Loaded only now, because it loads modules of shared/, which read their environment when they load.
  const { operations } = await import('./operations.ts')
  const listed = new Set([...operations.map(({ of }) => of), ...unmeasured])
  const unlisted = stack.functions.filter(({ name }) => !listed.has(name)).map(({ name }) => name)
  if (unlisted.length > 0)
    throw new Error(`add ${unlisted.join(', ')} to test/bench/operations/operations.ts`)

  const rows = []
  for (const [of, own] of Map.groupBy(operations, (operation) => operation.of)) {
    const model = stack.functions.find(({ name }) => name === of)
    if (model === undefined) throw new Error(`there is no function ${of}`)
    say(of)
    const environment = new FunctionProcess(stack.describe(model))
    try {
      for (const operation of own) {
        const usages = await repeat(environment, stack, operation, samples)
        rows.push({ operation: operation.title, ...describeCost(operation, model, typical(usages)) })
      }
    } finally {
      await environment.end()
    }
  }
  return [
    {
      name: 'operations',
      title: 'What an operation costs',
      notes: [
        "Units by AWS's billing rule, from the sizes of the items before and after; index entries included.",
        'Chain: the most AWS calls of which each began after the one before had been answered.',
        'CPU: median in a warm process on this machine. Lambda is charged for 5 ms of each call in the chain and that CPU',
        'at memory/1769 of a processor. × floor: what calls the function (API Gateway, or bus and queue), the Lambda request',
        'and DynamoDB, by the first two alone.',
        'Kept: what does not expire, with 100 bytes for each item and index entry. A transaction that is cancelled is',
        'counted whole, the most that AWS charges for it.',
      ],
      rows,
    },
  ]
}

/** The usage of a run in the middle: units are the same in all, processor time is not. */
const typical = (usages: readonly Usage[]): Usage => ({
  ...(usages.at(-1) as Usage),
  cpu: median(usages.map(({ cpu }) => cpu)),
})

/** Runs an operation once to warm it up, and then as often as is wanted. */
async function repeat(
  environment: FunctionProcess,
  stack: BenchStack,
  operation: Operation,
  samples: number,
): Promise<Usage[]> {
  const usages: Usage[] = []
  for (let sample = 0; sample <= samples; sample += 1)
    usages.push(await runOnce(environment, stack, operation))
  return usages.slice(1)
}

async function runOnce(
  environment: FunctionProcess,
  { recorder }: BenchStack,
  { scenario, call, title }: Operation,
): Promise<Usage> {
  let usage: Usage | undefined
  let made = 0
  let logged = 0
  const calls: Calls = makeCalls(async (event) => {
    if (usage !== undefined) throw new Measured()
    // The calls of the function's init are none of the operation's.
    await environment.evaluated
    recorder.take()
    const answer = await environment.run(event)
    const { cpu, logBytes } = answer
    const recorded = recorder.take()
    if (made === call) usage = { calls: recorded.calls, cpu, logBytes: logBytes - logged }
    made += 1
    logged = logBytes
    return toInvocation(answer)
  })
  try {
    await scenario(calls)
  } catch (error) {
    if (!(error instanceof Measured)) throw error
  }
  if (usage === undefined) throw new Error(`${title}: its scenario makes fewer calls`)
  return usage
}
