import { installDatabase } from '../../support/dynamodb-in-memory/play-database.ts'
import { drawHistory, type History } from './history.ts'
import { installProcesses } from './processes.ts'
import { runHistory } from './run-history.ts'
import { shrink } from './shrink.ts'
import { installVirtualTime } from './virtual-time.ts'
import { processCount } from './world.ts'

/** Which simulations to run. Each seed gives another simulation. */
export interface SeedOptions {
  seeds: number
  seed: number
  operations: number
  /** Whether to print a digest of each simulation's AWS calls. */
  trace: boolean
  /** How many seeds also run on DynamoDB Local, where they must make the same AWS calls as in memory. */
  compare: number
}

/** Each seed runs a day later than the previous seed, so that no cached data is still valid. */
let days = 0
const nextDay = (): number => (days += 1)

/** Runs the seeds, prints every failure, and resolves with the number of seeds that failed. */
export async function runSeeds(options: SeedOptions): Promise<number> {
  installVirtualTime()
  await installDatabase()
  await installProcesses(processCount)
  const started = performance.now()
  const totals = { events: 0, refused: 0, steps: 0, failed: 0 }
  for (let seed = options.seed; seed < options.seed + options.seeds; seed += 1) {
    const history = drawHistory(seed, options.operations, nextDay())
    const { problems, events, refused, steps, trace } = await runHistory(history)
    const isCompared = seed < options.seed + options.compare
    const all = [...problems, ...(isCompared ? await compareWithLocal(seed, options) : [])]
    totals.events += events
    totals.refused += refused
    totals.steps += steps
    if (options.trace) console.log(`seed ${seed} ${trace} ${steps}`)
    if (all.length === 0) continue
    totals.failed += 1
    await tell(history, all, options)
  }
  const seconds = (performance.now() - started) / 1000
  console.log(
    `${options.seeds} seeds, ${totals.failed} failed: ${totals.events} events, of which ${totals.refused} were ` +
      `refused, ${totals.steps} steps; ${seconds.toFixed(1)} s`,
  )
  return totals.failed
}

/** Runs a seed in memory and on DynamoDB Local. Simulates no stale reads, because DynamoDB Local has none. */
async function compareWithLocal(seed: number, { operations }: SeedOptions): Promise<string[]> {
  const runFresh = (options?: { dynamodbLocal: boolean }) => {
    const history = drawHistory(seed, operations, nextDay())
    return runHistory({ ...history, weather: { ...history.weather, staleReads: 0 } }, options)
  }
  const [memory, local] = [await runFresh(), await runFresh({ dynamodbLocal: true })]
  const isSame = local.trace === memory.trace
  return [...local.problems, ...(isSame ? [] : ['the calls on DynamoDB Local differ from those in memory'])]
}

async function tell(history: History, problems: string[], { operations }: SeedOptions): Promise<void> {
  const { seed } = history
  console.log(`seed ${seed} FAILED:\n  ${problems.join('\n  ')}`)
  console.log(`repeat it with: npm run test:faults -- --seeds 1 --seed ${seed} --operations ${operations}`)
  let { begin } = history
  const { operations: rest } = await shrink(history, async (candidate) => {
    begin += 2_000
    return (await runHistory({ ...candidate, begin })).problems.length > 0
  })
  console.log(`it still fails with ${rest.length} operations:`)
  for (const operation of rest) console.log(`  ${JSON.stringify(operation)}`)
}
