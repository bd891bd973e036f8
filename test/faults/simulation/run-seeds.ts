import { drawHistory, type History } from './history.ts'
import { killAtEachCall } from './kill-at-each-call.ts'
import { installProcesses } from './processes.ts'
import { runHistory } from './run-history.ts'
import { shrink } from './shrink.ts'
import { installVirtualTime } from './virtual-time.ts'
import { processCount } from './world.ts'

/** Which seeds to run. */
export interface SeedOptions {
  seeds: number
  seed: number
  operations: number
  shrink: boolean
  trace: boolean
  /** Whether to kill every function at each of its calls instead. */
  killAtEachCall?: boolean
}

/** Runs seeds, tells about each that fails, and resolves with their number. */
export async function runSeeds(options: SeedOptions): Promise<number> {
  installVirtualTime()
  await installProcesses(processCount)
  if (options.killAtEachCall) {
    const problems = await killAtEachCall()
    for (const problem of problems) console.log(problem)
    return problems.length
  }
  const started = performance.now()
  const totals = { events: 0, refused: 0, steps: 0, failed: 0 }
  for (let seed = options.seed; seed < options.seed + options.seeds; seed += 1) {
    const history = drawHistory(seed, options.operations)
    const { problems, events, refused, steps, trace } = await runHistory(history)
    totals.events += events
    totals.refused += refused
    totals.steps += steps
    if (options.trace) console.log(`seed ${seed} ${trace} ${steps}`)
    if (problems.length === 0) continue
    totals.failed += 1
    await tell(history, problems, options)
  }
  const seconds = (performance.now() - started) / 1000
  console.log(
    `${options.seeds} seeds, ${totals.failed} failed: ${totals.events} events, of which ${totals.refused} were ` +
      `refused, ${totals.steps} steps; ${seconds.toFixed(1)} s`,
  )
  return totals.failed
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
    return (await runHistory({ ...candidate, begin })).problems.length > 0
  }
  const { operations } = await shrink(history, fails)
  console.log(`it still fails with ${operations.length} operations:`)
  for (const operation of operations) console.log(`  ${JSON.stringify(operation)}`)
}
