import { installDatabase } from '../../support/dynamodb-in-memory/play-database.ts'
import { drawHistory, type History } from './history.ts'
import { killAtEachCall } from './kill-at-each-call.ts'
import { installProcesses } from './processes.ts'
import { runHistory } from './run-history.ts'
import { runScenarios } from './scenarios.ts'
import { shrink } from './shrink.ts'
import { installVirtualTime } from './virtual-time.ts'
import { processCount } from './world.ts'

const daysApart = 18_000

/** Which seeds to run. */
export interface SeedOptions {
  seeds: number
  seed: number
  operations: number
  shrink: boolean
  trace: boolean
  /** Whether the table is that of DynamoDB Local, and not in memory. */
  dynamodbLocal?: boolean
  /** How many of the seeds run on DynamoDB Local, too, and must make the same calls there. */
  compare: number
  /** Whether to kill every function at each of its calls instead. */
  killAtEachCall?: boolean
  /** Whether to run the scenarios, too. */
  scenarios?: boolean
}

/** Runs seeds, tells about each that fails, and resolves with their number. */
export async function runSeeds(options: SeedOptions): Promise<number> {
  installVirtualTime()
  await installDatabase()
  await installProcesses(processCount)
  if (options.killAtEachCall) {
    const problems = await killAtEachCall(options)
    for (const problem of problems) console.log(problem)
    return problems.length
  }
  const problems = options.scenarios ? await runScenarios() : []
  for (const problem of problems) console.log(problem)
  const started = performance.now()
  const traces = new Map<number, string>()
  const totals = { events: 0, refused: 0, steps: 0, failed: 0 }
  for (let seed = options.seed; seed < options.seed + options.seeds; seed += 1) {
    const history = drawHistory(seed, options.operations)
    const { problems, events, refused, steps, trace } = await runHistory(history, options)
    totals.events += events
    totals.refused += refused
    totals.steps += steps
    if (options.trace) console.log(`seed ${seed} ${trace} ${steps}`)
    traces.set(seed, trace)
    if (problems.length === 0) continue
    totals.failed += 1
    await tell(history, problems, options)
  }
  // Last, because they are of later days: time that goes back would mislead what processes have in memory.
  for (const [seed, trace] of [...traces].slice(0, options.compare)) {
    const problems = await compareWithLocal(seed, options, trace)
    if (problems.length === 0) continue
    totals.failed += 1
    await tell(drawHistory(seed, options.operations), problems, { ...options, shrink: false })
  }
  const seconds = (performance.now() - started) / 1000
  console.log(
    `${options.seeds} seeds, ${totals.failed} failed: ${totals.events} events, of which ${totals.refused} were ` +
      `refused, ${totals.steps} steps; ${seconds.toFixed(1)} s`,
  )
  return totals.failed + problems.length
}

/** Runs a seed on DynamoDB Local, on another day of which no process has anything in memory. */
async function compareWithLocal(seed: number, { operations }: SeedOptions, trace: string): Promise<string[]> {
  const history = drawHistory(seed, operations, seed + daysApart)
  const local = await runHistory(history, { dynamodbLocal: true })
  const isSame = local.trace === trace
  return [...local.problems, ...(isSame ? [] : ['the calls on DynamoDB Local differ from those in memory'])]
}

async function tell(history: History, problems: string[], options: SeedOptions): Promise<void> {
  const { seed } = history
  console.log(`seed ${seed} FAILED:\n  ${problems.join('\n  ')}`)
  console.log(
    `repeat it with: npm run test:faults -- --seeds 1 --seed ${seed} --operations ${options.operations}`,
  )
  if (!options.shrink) return
  let { begin } = history
  const fails = async (candidate: History) => {
    // Later than before, so that no process has anything in memory that seems to be of now.
    begin += 2_000
    return (await runHistory({ ...candidate, begin }, options)).problems.length > 0
  }
  const { operations } = await shrink(history, fails)
  console.log(`it still fails with ${operations.length} operations:`)
  for (const operation of operations) console.log(`  ${JSON.stringify(operation)}`)
}
